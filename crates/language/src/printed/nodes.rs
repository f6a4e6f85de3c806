//! The printed nodes: each text once, in the order in which it was needed.

use std::collections::BTreeSet;

use super::Ends;

/// The text of a node, apart from its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NodeText {
    pub inputs: Vec<String>,
    pub outputs: Vec<String>,
    pub lines: Vec<Line>,
}

/// An equation of a node, or several on one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub text: String,
    /// The nodes and functions that it calls.
    pub called: BTreeSet<String>,
}

impl NodeText {
    pub fn show(&self, name: &str) -> String {
        let mut text = format!("node {name}({})->({})\n", self.inputs.join(","), self.outputs.join(","));
        for line in &self.lines {
            text.extend(["  ", &line.text, "\n"]);
        }
        text
    }

    /// The nodes and functions that its equations call.
    pub fn called(&self) -> BTreeSet<String> {
        self.lines.iter().flat_map(|line| line.called.iter().cloned()).collect()
    }
}

/// Nodes by their assigned names.
#[derive(Default)]
pub(super) struct Nodes {
    printed: Vec<Printed>,
    taken: BTreeSet<String>,
}

struct Printed {
    preferred: String,
    name: String,
    node: NodeText,
}

impl Nodes {
    /// Reserves the names of existing nodes.
    pub fn reserve(&mut self, names: impl IntoIterator<Item = String>) {
        self.taken.extend(names);
    }

    /// Adds a node and returns its name. Equal texts are printed once; a different text with the same name is
    /// a variant, `diff_M'2` (section 9.5).
    pub fn add(&mut self, preferred: &str, node: NodeText) -> String {
        if let Some(same) =
            self.printed.iter().find(|printed| printed.preferred == preferred && printed.node == node)
        {
            return same.name.clone();
        }
        let mut name = preferred.to_string();
        let mut number = 1;
        while !self.taken.insert(name.clone()) {
            number += 1;
            name = format!("{preferred}'{number}");
        }
        self.printed.push(Printed { preferred: preferred.to_string(), name: name.clone(), node });
        name
    }

    /// The nodes and functions that the printed nodes call.
    pub fn called(&self) -> BTreeSet<String> {
        self.printed.iter().flat_map(|printed| printed.node.called()).collect()
    }

    /// All texts in order.
    pub fn show(&self) -> String {
        self.printed.iter().map(|printed| printed.node.show(&printed.name)).collect()
    }

    /// Adds one of the fixed nodes of training code; returns its name in this program.
    pub fn template(&mut self, template: Template, ends: Ends) -> String {
        let words = |words: &str| words.split(',').map(ToString::to_string).collect::<Vec<_>>();
        let fby_end = match template {
            Template::ParamEnd => self.template(Template::FbyEnd, ends),
            _ => String::new(),
        };
        let (name, inputs, outputs, lines) = template.parts(ends);
        // Templates call only the prelude and each other.
        let line =
            |line: &&str| Line { text: line.replace("DIFF_FBY_END", &fby_end), called: BTreeSet::new() };
        let lines = lines.iter().map(line).collect();
        self.add(name, NodeText { inputs: words(inputs), outputs: words(outputs), lines })
    }
}

/// The nodes of Figs 3 and 20, as repaired in section 10.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Template {
    /// `diff_param`.
    Param,
    /// `back_param`, for dense cotangents.
    DenseParam,
    /// `diff_fby1`.
    Register,
    /// `diff_fby_end`.
    FbyEnd,
    /// `diff_post_end`, the mirror image of `diff_fby_end`.
    PostEnd,
    /// `diff_param_end`.
    ParamEnd,
}

impl Template {
    /// The inputs of the corresponding prelude node that have cotangents.
    pub fn inputs_with_cotangents(self) -> &'static [usize] {
        match self {
            Template::FbyEnd | Template::PostEnd => &[2, 3],
            Template::ParamEnd => &[2],
            Template::Param | Template::DenseParam | Template::Register => &[],
        }
    }

    /// The name of the node, its inputs, outputs and equations.
    fn parts(self, ends: Ends) -> (&'static str, &'static str, &'static str, Vec<&'static str>) {
        let is_finite = ends == Ends::Finite;
        match self {
            Template::Param => {
                ("diff_param", "init,bp,do", "o", vec!["o = init fby o1;", "o1 = o + merge bp do 0.0;"])
            }
            Template::DenseParam => ("back_param", "init,do", "o", vec!["o = init fby o1;", "o1 = o + do;"]),
            Template::Register => (
                "diff_fby1",
                "init,i,bpo,do",
                "o,bpi,di",
                vec![
                    "o = init fby i;",
                    if is_finite { "bpi = false fby back bpo;" } else { "bpi = post bpo;" },
                    "s = merge bpo do 0.0;",
                    if is_finite { "di = (0.0 fby back s) when bpi;" } else { "di = (post s) when bpi;" },
                ],
            ),
            Template::FbyEnd => (
                "diff_fby_end",
                "shape,end,init,i,bp,do",
                "o,dinit,di",
                vec![
                    "o = fby_end(shape,end,init,i);",
                    "rst = true fby end;",
                    "rst1 = rst when bp; end1 = end when bp;",
                    "dinit = merge rst1 (do when rst1) zeros(shape);",
                    "di = merge end1 zeros(shape) (di1 when not end1);",
                    if is_finite {
                        "di1 = zeros(shape) fby back (merge rst1 zeros(shape) (do when not rst1));"
                    } else {
                        "di1 = post (merge rst1 zeros(shape) (do when not rst1));"
                    },
                ],
            ),
            Template::PostEnd => (
                "diff_post_end",
                "shape,end,init,i,bp,do",
                "o,dinit,di",
                vec![
                    "o = post_end(shape,end,init,i);",
                    "rst = true fby end;",
                    "rst1 = rst when bp; end1 = end when bp;",
                    "dinit = merge end1 (do when end1) zeros(shape);",
                    "di = merge rst1 zeros(shape) (di1 when not rst1);",
                    "di1 = zeros(shape) fby (merge end1 zeros(shape) (do when not end1));",
                ],
            ),
            Template::ParamEnd => (
                "diff_param_end",
                "shape,end,p,bp,do",
                "o,dp",
                vec![
                    "o = o1; o2 = o1;",
                    "do1 = do + do2;",
                    "o1,dp,do2 = DIFF_FBY_END(shape,end,p,o2,bp,do1);",
                ],
            ),
        }
    }
}
