//! Strongly connected components of a graph (Tarjan's algorithm), without recursion.

/// Returns the number of each vertex's component. Components are numbered in reverse topological order: a
/// component has a smaller number than its predecessors.
pub fn components(n_vertices: usize, successors: impl Fn(usize) -> Vec<usize>) -> Vec<usize> {
    const NEW: usize = usize::MAX;
    let mut search = Search {
        order: vec![NEW; n_vertices],
        low: vec![0; n_vertices],
        component: vec![NEW; n_vertices],
        open: Vec::new(),
        n_seen: 0,
        n_components: 0,
    };
    for start in 0..n_vertices {
        if search.order[start] != NEW {
            continue;
        }
        // The path of the depth-first search; each vertex has a stack of successors still to visit.
        let mut path = vec![(start, search.enter(start, &successors))];
        while let Some((vertex, rest)) = path.last_mut() {
            let vertex = *vertex;
            match rest.pop() {
                Some(next) if search.order[next] == NEW => {
                    let successors = search.enter(next, &successors);
                    path.push((next, successors));
                }
                Some(next) => {
                    if search.component[next] == NEW {
                        search.low[vertex] = search.low[vertex].min(search.order[next]);
                    }
                }
                None => {
                    search.leave(vertex);
                    path.pop();
                    if let Some((parent, _)) = path.last() {
                        search.low[*parent] = search.low[*parent].min(search.low[vertex]);
                    }
                }
            }
        }
    }
    search.component
}

struct Search {
    /// The order of discovery.
    order: Vec<usize>,
    /// The smallest `order` among the open vertices that each vertex can reach.
    low: Vec<usize>,
    component: Vec<usize>,
    /// Vertices whose component is incomplete (Tarjan's stack).
    open: Vec<usize>,
    n_seen: usize,
    n_components: usize,
}

impl Search {
    fn enter(&mut self, vertex: usize, successors: &impl Fn(usize) -> Vec<usize>) -> Vec<usize> {
        self.order[vertex] = self.n_seen;
        self.low[vertex] = self.n_seen;
        self.n_seen += 1;
        self.open.push(vertex);
        let mut successors = successors(vertex);
        successors.reverse();
        successors
    }

    fn leave(&mut self, vertex: usize) {
        if self.low[vertex] != self.order[vertex] {
            return;
        }
        while let Some(member) = self.open.pop() {
            self.component[member] = self.n_components;
            if member == vertex {
                break;
            }
        }
        self.n_components += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(edges: &[&[usize]], expected: &[usize]) {
        assert_eq!(components(edges.len(), |vertex| edges[vertex].to_vec()), expected);
    }

    #[test]
    fn cycles_are_components() {
        check(&[&[1], &[2], &[0], &[0]], &[0, 0, 0, 1]);
        check(&[&[1], &[2], &[]], &[2, 1, 0]);
        check(&[&[1, 2], &[0], &[3], &[2]], &[1, 1, 0, 0]);
    }

    #[test]
    fn a_long_chain_needs_no_stack() {
        let n = 200_000;
        let found = components(n, |vertex| if vertex + 1 < n { vec![vertex + 1] } else { vec![0] });
        assert!(found.iter().all(|component| *component == 0));
    }
}
