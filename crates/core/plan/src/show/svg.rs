//! A picture of a plan: steps over a window are arrows, buffers between them are arcs.
//!
//! ```text
//!        F    I    I    L
//!   1    ───────────────▶   ╮ h, c
//!   2    ◀───────────────   ╯
//!   3    ●
//! ```

use std::collections::BTreeMap;

use eddy_flow::{Flow, VarId};

use super::kind::{condition, kind};
use super::names::Names;
use crate::plan::{
    Body, BufferId, BufferRole, Direction, Place, Plan, Read, Region, Schedule, Step, Store, Sweep, Unit,
    Windows,
};

const LEFT: usize = 150;
const WIDTH: usize = 360;
const ROW: usize = 44;
const HEADER: usize = 70;
const MARGIN: usize = 20;
const ARC: usize = 26;

const STYLE: &str = "\
text{font:13px ui-monospace,Menlo,Consolas,monospace;fill:#24292f}\
.title{font-weight:600;font-size:15px}\
.zone{fill:#8c959f;text-anchor:middle}\
.name{text-anchor:end}\
.grid{stroke:#eaeef2;stroke-width:1}\
.forward{stroke:#0969da;stroke-width:2.5;fill:none}\
.backward{stroke:#cf222e;stroke-width:2.5;fill:none}\
.straight{fill:#1a7f37}\
.unit{fill:#fff8c5;stroke:#d4a72c;stroke-width:1}\
.arc{fill:none;stroke:#8250df;stroke-width:1.5}\
.kept{fill:#8250df;font-size:11px}";

pub fn svg(name: &str, flow: &Flow, plan: &Plan) -> String {
    let names = Names::new(flow);
    let mut picture = Picture { body: String::new(), top: MARGIN, right: LEFT + WIDTH };
    for (number, root) in plan.roots.iter().enumerate() {
        let title = if number == 0 { format!("{name}: {}", kind(flow, plan)) } else { String::new() };
        picture.title(&title);
        match &root.schedule {
            Schedule::Forward(lagged) => {
                picture.header(&["0", "1", "2", "…"]);
                let what = if lagged.max_lag == 0 {
                    "forward".to_string()
                } else {
                    format!("lag {}", lagged.look_ahead)
                };
                picture.arrow(&what, Direction::Forward);
            }
            Schedule::Windows(windows) => picture.windows(&names, windows),
            Schedule::EventDriven(_) => picture.top += ROW,
        }
        picture.top += MARGIN;
    }
    let (width, height) = (picture.right + MARGIN, picture.top + MARGIN);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n\
         <style>{STYLE}</style>\n\
         <defs>\
         <marker id=\"tip\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"6\" markerHeight=\"6\" orient=\"auto\">\
         <path d=\"M0 0L10 5L0 10z\" fill=\"context-stroke\"/></marker></defs>\n{}</svg>\n",
        picture.body
    )
}

struct Picture {
    body: String,
    top: usize,
    right: usize,
}

impl Picture {
    fn put(&mut self, text: &str) {
        self.body.push_str(text);
        self.body.push('\n');
    }

    fn text(&mut self, class: &str, x: usize, y: usize, text: &str) {
        let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        self.put(&format!("<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{escaped}</text>"));
        // A character of the font is about eight units wide.
        if class != "name" && class != "zone" {
            self.right = self.right.max(x + 8 * text.chars().count());
        }
    }

    fn title(&mut self, title: &str) {
        self.text("title", MARGIN, self.top + 16, title);
        self.top += HEADER - ROW;
    }

    /// The names of the cycles, from left to right.
    fn header(&mut self, zones: &[&str]) {
        let y = self.top + 16;
        for (index, zone) in zones.iter().enumerate() {
            self.text("zone", column(index, zones.len()), y, zone);
        }
        self.top += ROW / 2 + 8;
    }

    fn arrow(&mut self, name: &str, direction: Direction) {
        let y = self.top + ROW / 2;
        self.text("name", LEFT - MARGIN, y + 4, name);
        let (from, to, class) = match direction {
            Direction::Forward => (LEFT, LEFT + WIDTH, "forward"),
            Direction::Backward => (LEFT + WIDTH, LEFT, "backward"),
        };
        self.put(&format!("<path class=\"{class}\" marker-end=\"url(#tip)\" d=\"M{from} {y}H{to}\"/>"));
        self.top += ROW;
    }

    fn windows(&mut self, names: &Names<'_>, windows: &Windows) {
        for version in &windows.versions {
            if let Some((var, truth)) = version.assumes {
                self.text(
                    "zone",
                    LEFT + WIDTH / 2,
                    self.top + 16,
                    &format!("{} is {truth}", names.name(var)),
                );
                self.top += ROW / 2;
            }
            self.header(&["F", "I", "…", "I", "L"]);
            if windows.prelude.max_lag > 0 {
                self.arrow(&format!("before, lag {}", windows.prelude.max_lag), Direction::Forward);
            }
            let first = self.top;
            for (number, step) in version.region.steps.iter().enumerate() {
                self.step(names, &format!("{}", number + 1), step);
            }
            self.arcs(names, windows, &version.region, first);
        }
    }

    fn step(&mut self, names: &Names<'_>, number: &str, step: &Step) {
        match step {
            Step::Sweep(sweep) if sweep.is_straight => self.dots(number, sweep),
            Step::Sweep(sweep) => self.arrow(number, sweep.direction),
            Step::Unit(Unit::Retimed(retimed)) => {
                self.arrow(&format!("{number}, lag {}", retimed.lagged.max_lag), Direction::Forward);
            }
            Step::Unit(Unit::Nested(inner)) => {
                let y = self.top + 6;
                let (guard, polarity) = inner.guard.expect("nested windows have a guard");
                let guard = condition(&names.labels, guard, polarity);
                self.text("name", LEFT - MARGIN, y + 20, &format!("{number}, {guard}"));
                for part in 0..3 {
                    let (x, width) = (LEFT + part * WIDTH / 3, WIDTH / 3 - 6);
                    self.put(&format!(
                        "<rect class=\"unit\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{}\" rx=\"4\"/>",
                        ROW - 12
                    ));
                }
                let class = if inner.order == Direction::Forward { "forward" } else { "backward" };
                let (from, to) = match inner.order {
                    Direction::Forward => (LEFT + 10, LEFT + WIDTH - 16),
                    Direction::Backward => (LEFT + WIDTH - 16, LEFT + 10),
                };
                self.put(&format!(
                    "<path class=\"{class}\" marker-end=\"url(#tip)\" d=\"M{from} {}H{to}\"/>",
                    y + 16
                ));
                self.top += ROW;
            }
        }
    }

    /// Straight-line code: dots at the ends that have code.
    fn dots(&mut self, number: &str, sweep: &Sweep) {
        let y = self.top + ROW / 2;
        self.text("name", LEFT - MARGIN, y + 4, number);
        let has_code = |bodies: &[Body]| bodies.iter().any(|body| !body.code.is_empty());
        let ends = [(column(0, 5), &sweep.bodies[..1]), (column(4, 5), &sweep.bodies[2..])];
        for (x, bodies) in ends {
            if has_code(bodies) {
                self.put(&format!("<circle class=\"straight\" cx=\"{x}\" cy=\"{y}\" r=\"6\"/>"));
            }
        }
        self.top += ROW;
    }

    /// An arc from the step that writes a buffer to the last one that reads it; arcs with the same ends are
    /// merged.
    fn arcs(&mut self, names: &Names<'_>, windows: &Windows, region: &Region, first: usize) {
        let mut arcs: BTreeMap<(usize, usize), Vec<VarId>> = BTreeMap::new();
        for (number, buffer) in windows.buffers.iter().enumerate() {
            if !buffer.is_between_steps || buffer.role == BufferRole::Arrival {
                continue;
            }
            for var in &buffer.vars {
                let uses = |is_asked: &dyn Fn(&Step) -> bool| -> Vec<usize> {
                    (0..region.steps.len()).filter(|step| is_asked(&region.steps[*step])).collect()
                };
                let writers = uses(&|step| writes(step, *var));
                let readers = uses(&|step| reads(step, *var, BufferId::new(number)));
                if let (Some(from), Some(to)) = (writers.first(), readers.last())
                    && from < to
                {
                    arcs.entry((*from, *to)).or_default().push(*var);
                }
            }
        }
        for (number, ((from, to), vars)) in arcs.into_iter().enumerate() {
            let x = LEFT + WIDTH + MARGIN;
            let bend = x + ARC * (number + 1);
            let [y1, y2] = [from, to].map(|step| first + step * ROW + ROW / 2);
            self.put(&format!("<path class=\"arc\" d=\"M{x} {y1}C{bend} {y1} {bend} {y2} {x} {y2}\"/>"));
            let n: usize = vars.iter().map(|var| names.n_numbers(*var)).sum();
            let few: Vec<String> = vars.iter().take(4).map(|var| names.sized(*var)).collect();
            let more = if vars.len() > 4 { ", …" } else { "" };
            let label = format!("{n}: {}{more}", few.join(", "));
            self.text("kept", bend + 6, usize::midpoint(y1, y2) + 4 + 14 * number, &label);
        }
    }
}

fn column(index: usize, n: usize) -> usize {
    LEFT + (2 * index + 1) * WIDTH / (2 * n)
}

fn writes(step: &Step, var: VarId) -> bool {
    let is_stored = |bodies: &[Body]| {
        let code = bodies.iter().flat_map(|body| &body.code);
        code.filter(|instruction| instruction.var == var)
            .flat_map(|instruction| &instruction.store)
            .any(|store| matches!(store, Store::Buffer(_)))
    };
    match step {
        Step::Sweep(sweep) => is_stored(&sweep.bodies),
        Step::Unit(Unit::Retimed(retimed)) => retimed.stores.iter().any(|(stored, _)| *stored == var),
        Step::Unit(Unit::Nested(inner)) => {
            inner.steps.iter().any(|step| writes(step, var)) || is_stored(&inner.single)
        }
    }
}

fn reads(step: &Step, var: VarId, buffer: BufferId) -> bool {
    let is_there = |place: &Place| *place == Place::Buffer(buffer);
    let is_read = |read: &Read| {
        read.var() == var
            && match read {
                Read::Here(_, place) => is_there(place),
                Read::Before { first, inner, .. } => is_there(first) || is_there(inner),
                Read::After { inner, last, .. } => is_there(inner) || last.iter().any(is_there),
            }
    };
    let in_bodies =
        |bodies: &[Body]| bodies.iter().flat_map(|body| &body.code).flat_map(Region::reads).any(is_read);
    match step {
        Step::Sweep(sweep) => {
            in_bodies(&sweep.bodies) || sweep.trackers.iter().flat_map(|tracker| &tracker.next).any(is_read)
        }
        Step::Unit(Unit::Retimed(retimed)) => {
            retimed.lagged.body.iter().flat_map(|late| Region::reads(&late.instruction)).any(is_read)
        }
        Step::Unit(Unit::Nested(inner)) => inner.steps.iter().any(|step| reads(step, var, buffer)),
    }
}
