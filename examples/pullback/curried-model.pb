-- A curried model and its loss: the gradient with respect to both parameters, by partial application.
-- Try three steps of descent with a smaller rate.
-- run: fast, reference, translation
def model (w : R) (b : R) (x : R) = tanh (w * x + b);
def error (m : R -> R) (x : R) (y : R) = (m x - y)^2;
def loss = \<w, b>:R^2. let m = model w b in error m 0 0 + error m 1 1 + error m 2 1;
def step (p : R^2) = p + (let <dw, db> = grad loss at p in <-0.5 * dw, -0.5 * db>);

<loss <0, 0>, loss (step <0, 0>), loss (step (step <0, 0>))>
