//! The values of parameters, and their replacement by given values.

use eddy_flow::{Constant, Flow, Kind, Named, VarId};
use eddy_language::codes;
use eddy_syntax::suggest::nearest;
use eddy_syntax::{Diagnostic, Span};
use eddy_tensor::Value;
use rustc_hash::FxHashMap;

/// Replaces the values of a program's parameters. Each parameter must have a value of its type. Values of a
/// node may also be used for a node that contains one instance of it: `kernel` is then the value of
/// `network#1/kernel`.
pub fn give(
    flow: &mut Flow,
    values: &[(String, Value)],
    file: &str,
    span: Span,
) -> Result<(), Vec<Diagnostic>> {
    let by_name: FxHashMap<&str, &Value> =
        values.iter().map(|(name, value)| (name.as_str(), value)).collect();
    let definitions = flow.definitions();
    let mut diagnostics = Vec::new();
    let instance = instance(flow, &by_name);
    for parameter in &flow.parameters {
        let var = flow.var(parameter.var);
        let Some(value) = by_name.get(&parameter.name[instance.len()..]) else {
            diagnostics.push(missing(&parameter.name, &by_name, file, var.span));
            continue;
        };
        let value = value.to_num64();
        if value.ty() != var.ty {
            let name = &parameter.name;
            let title =
                format!("the parameter `{name}` is {} but `{file}` has {} for it", var.ty, value.ty());
            diagnostics.push(Diagnostic::error(codes::PARAMETERS, var.span, title));
            continue;
        }
        if let Some(number) = definitions[parameter.var.index()]
            && let Kind::Param(_) = flow.equations[number].kind
        {
            flow.equations[number].kind = Kind::Const(Constant::Value(value));
        }
    }
    let is_known =
        |name: &str| flow.parameters.iter().any(|parameter| parameter.name[instance.len()..] == *name);
    if flow.parameters.is_empty() {
        let title = format!("the node has no parameters that `{file}` could give values to");
        diagnostics.push(Diagnostic::error(codes::PARAMETERS, span, title));
    } else if diagnostics.is_empty()
        && let Some((name, _)) = values.iter().find(|(name, _)| !is_known(name))
    {
        let title = format!("`{file}` has a parameter `{name}`, and the node has none of that name");
        diagnostics.push(Diagnostic::error(codes::PARAMETERS, span, title));
    }
    if diagnostics.is_empty() { Ok(()) } else { Err(diagnostics) }
}

/// The values of the parameters: those that were given, and initial ones that are constants.
pub fn values(flow: &Flow, seed: u64) -> Vec<(String, Value)> {
    let definitions = flow.definitions();
    let equation = |var: VarId| definitions[var.index()].map(|number| &flow.equations[number].kind);
    let value = |parameter: &Named| {
        let constant = match equation(parameter.var)? {
            Kind::Const(constant) => constant,
            Kind::Param(init) => match equation(*init)? {
                Kind::Const(constant) => constant,
                _ => return None,
            },
            _ => return None,
        };
        Some((parameter.name.to_string(), constant.value(&flow.var(parameter.var).ty, seed)))
    };
    flow.parameters.iter().filter_map(value).collect()
}

/// The path of the instance that the values belong to, `""` for the node itself.
fn instance(flow: &Flow, values: &FxHashMap<&str, &Value>) -> String {
    let Some(first) = flow.parameters.first() else { return String::new() };
    let fits = |path: &&str| {
        let within = |name: &str| name.strip_prefix(path).is_some_and(|name| values.contains_key(name));
        flow.parameters.iter().all(|parameter| within(&parameter.name))
    };
    let paths = std::iter::once(0).chain(first.name.match_indices('/').map(|(at, _)| at + 1));
    paths.map(|end| &first.name[..end]).find(fits).unwrap_or_default().to_string()
}

fn missing(name: &str, values: &FxHashMap<&str, &Value>, file: &str, span: Span) -> Diagnostic {
    let title = format!("`{file}` has no value for the parameter `{name}`");
    let diagnostic = Diagnostic::error(codes::PARAMETERS, span, title);
    let mut names: Vec<&str> = values.keys().copied().collect();
    names.sort_unstable();
    match nearest(name, names) {
        Some(near) => diagnostic.help(format!("it has one for `{near}`")),
        None => diagnostic,
    }
}
