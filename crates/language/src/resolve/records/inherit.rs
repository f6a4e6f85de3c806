//! The structures of what made nodes capture.
//!
//! The bodies of copies and of lambdas, and nodes that are made from templates, have inputs without written
//! types. They have the structures of the arguments, so callers are searched before their callees.

use super::infer;
use super::interface::StreamInterface;
use crate::program::{Base, Callable, Callee, Copies, Made, NodeId, Program, Reference, Structure};
use crate::static_value::postorder;

/// Sets the structures of the inputs of made nodes; `order` lists callees first.
pub(super) fn inherit(program: &Program, interfaces: &mut [StreamInterface], order: &[NodeId]) {
    if program.types.is_empty() || program.nodes.iter().all(|node| node.made == Made::Written) {
        return;
    }
    for id in order {
        interfaces[id.index()] = infer::searched(program, interfaces, *id).0;
    }
    for id in order.iter().rev() {
        let (_, found) = infer::searched(program, interfaces, *id);
        let (module, node) = (program.module_of(*id), program.node(*id));
        for call in node.equations.iter().flat_map(|equation| postorder(&module.tree.exprs, equation.value)) {
            let Reference::Call { callee: Callee::Instance(callable), site, .. } =
                &module.references[call.index()]
            else {
                continue;
            };
            let Callable { base: Base::Node(callee) | Base::Woven { node: callee, .. }, .. } = callable
            else {
                continue;
            };
            if program.node(*callee).made == Made::Written {
                continue;
            }
            let copies = site.as_ref().and_then(|site| site.copies);
            let (n_own, n_bound) = copies.map_or((0, 0), Copies::n_bound);
            let arguments: Vec<_> = module.tree.exprs.children(call).skip(n_own).collect();
            let inputs = interfaces[callee.index()].inputs.iter_mut().skip(n_bound);
            for (input, argument) in inputs.zip(arguments) {
                if let Some(structure) = found.get(&argument)
                    && **structure != Structure::Tensor
                {
                    input.structure = (**structure).clone();
                    input.is_num = vec![true; structure.n_leaves()];
                }
            }
        }
    }
}
