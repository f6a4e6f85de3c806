-- A solver as an argument: the derivative of its solution with respect to the problem.
-- `newton` iterates a step three times; `root` is the square root that it finds, and its derivative is that of the square root, 1/4 at 4.
-- Try: give `sensitivity` another solver.
-- run: fast, reference, translation
type Solver = (R -> R) -> R -> R;
def thrice (step : R -> R) = \x. step (step (step x));
def newton (a : R) = \x. x - (x^2 - a) / (2 * x);
def solve = \(step : R -> R) (start : R). thrice (\x. thrice step x) start;
def sensitivity (s : Solver) (a : R) = grad (\a. s (newton a) 1) at a;

<solve (newton 4) 1, sensitivity solve 4>
