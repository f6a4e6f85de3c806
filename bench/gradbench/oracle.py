"""Expected values of the GradBench programs, computed without Eddy.

Each eval is written again in numpy from its formulas. Derivatives are complex steps (the imaginary part of
f(x + i h) divided by h, exact to rounding for h = 1e-30) and, where there is one, a closed form; both must agree.
Inputs are small and have few decimals, so that the files in `expected` are short.

    python oracle.py            writes expected/*.json
    python oracle.py --check    recomputes them and compares
"""

import json
import math
import pathlib
import sys

import numpy as np

FOLDER = pathlib.Path(__file__).parent / "expected"
STEP = 1e-30


def draw(rng, *shape, low=0.0, high=1.0):
    return np.round(rng.uniform(low, high, shape), 3)


def complex_step(f, x):
    """The Jacobian of f at the flat point x: the derivatives by x are the last axis."""
    columns = []
    for j in range(x.size):
        z = x.astype(complex)
        z[j] += 1j * STEP
        columns.append(np.imag(f(z)) / STEP)
    return np.stack(columns, axis=-1)


def agree(a, b, tolerance=1e-12):
    a, b = np.asarray(a), np.asarray(b)
    assert np.all(np.abs(a - b) <= tolerance * np.maximum(1, np.abs(a) + np.abs(b))), (a, b)
    return b


def log_sum_exp(x):
    a = x[np.argmax(x.real)]
    return a + np.log(np.sum(np.exp(x - a)))


def hello():
    x = 1.0
    for _ in range(4):
        yield "square", x, x * x
        x = x * x
        yield "double", x, 2 * x
        x = 2 * x


def llsq():
    rng = np.random.default_rng(1)
    for m, n in [(1, 2), (4, 7), (8, 16), (5, 33)]:
        x = draw(rng, m)
        t = -1 + 2 * np.arange(n) / (n - 1)
        powers = np.vander(t, m, increasing=True)

        def primal(x):
            r = np.sign(t) - powers @ x
            return 0.5 * np.sum(r * r)

        gradient = agree(complex_step(primal, x), -powers.T @ (np.sign(t) - powers @ x))
        yield "primal", {"x": x, "n": n}, primal(x)
        yield "gradient", {"x": x, "n": n}, gradient


def lse():
    rng = np.random.default_rng(2)
    for x in [draw(rng, 1), draw(rng, 7), draw(rng, 20, low=-800, high=800), np.array([2.0, 5.0, 5.0, 1.0])]:
        shifted = np.exp(x - x.max())
        yield "primal", {"x": x}, log_sum_exp(x)
        yield "gradient", {"x": x}, agree(complex_step(log_sum_exp, x), shifted / shifted.sum())


def kmeans():
    rng = np.random.default_rng(3)
    for k, n, d in [(1, 3, 2), (3, 12, 2), (4, 20, 5), (6, 6, 3)]:
        points = draw(rng, n, d)
        centroids = points[-k:]
        distances = ((centroids[None] - points[:, None]) ** 2).sum(axis=2)
        nearest = distances.argmin(axis=1)
        means = np.stack([points[nearest == j].mean(axis=0) for j in range(k)])
        yield "cost", {"points": points, "centroids": centroids}, distances.min(axis=1).sum()
        yield "dir", {"points": points, "centroids": centroids}, centroids - means


def laplace(a):
    if len(a) == 1:
        return a[0, 0]
    minors = (np.delete(a[1:], k, axis=1) for k in range(len(a)))
    return sum((-1) ** k * a[0, k] * laplace(minor) for k, minor in enumerate(minors))


def det():
    rng = np.random.default_rng(4)
    for ell in [1, 2, 3, 4, 6]:
        a = draw(rng, ell * ell)
        square = a.reshape(ell, ell)
        value = agree(laplace(square), np.linalg.det(square), 1e-10)
        cofactors = complex_step(lambda z: laplace(z.reshape(ell, ell)), a)
        agree(cofactors, (value * np.linalg.inv(square).T).ravel(), 1e-10)
        yield "primal", {"A": a, "ell": ell}, laplace(square)
        yield "gradient", {"A": a, "ell": ell}, cofactors


def ode():
    rng = np.random.default_rng(5)

    def solve(x, s):
        def f(y):
            return x * np.concatenate([np.ones(1), y[:-1]])

        h, y = 2 / s, np.zeros_like(x)
        for _ in range(s):
            k1 = f(y)
            k2 = f(y + h * k1 / 2)
            k3 = f(y + h * k2 / 2)
            k4 = f(y + h * k3)
            y = y + h * (k1 + 2 * k2 + 2 * k3 + k4) / 6
        return y

    # Steps of order 4 make y_i zero from i = 4 s on, so few of these cases are trivial.
    for n, s in [(1, 1), (4, 1), (6, 1), (5, 3), (12, 4), (9, 50)]:
        x = draw(rng, n)
        if s == 50:
            exact = np.cumprod(x) * 2.0 ** np.arange(1, n + 1) / [math.factorial(i) for i in range(1, n + 1)]
            agree(solve(x, s), exact, 1e-6)
        yield "primal", {"x": x, "s": s}, solve(x, s)
        yield "gradient", {"x": x, "s": s}, complex_step(lambda z: solve(z, s)[-1], x)


def norm(x):
    return np.sqrt(np.sum(x * x))


def argmin(f, gradient, x):
    """Gradient descent as the evals prescribe it. Comparisons see real parts, so complex steps go through it."""
    fx, g, eta, i = f(x), gradient(x), 1e-5, 0
    while norm(g).real > 1e-5:
        if i == 10:
            eta, i = 2 * eta, 0
            continue
        y = x - eta * g
        if norm(x - y).real <= 1e-5:
            break
        fy = f(y)
        if fy.real < fx.real:
            x, fx, g, i = y, fy, gradient(y), i + 1
        else:
            eta, i = eta / 2, 0
    return x


def particle():
    def path(w):
        charges = np.array([[10, 10 - w[0]], [10, 0]])
        x, v, dt = np.array([0, 8 + 0j]), np.array([0.75, 0 + 0j]), 0.1
        while True:
            away = x - charges
            force = (away / ((away**2).sum(axis=1) ** 1.5)[:, None]).sum(axis=0)
            landing = x + dt * v
            if landing[1].real <= 0:
                e = landing[0] - landing[1] / v[1] * v[0]
                return e * e
            x, v = landing, v + dt * force

    def derivative(w):
        return complex_step(path, w)

    value = float(argmin(lambda w: path(w).real, derivative, np.array([0.0]))[0])
    agree(value, 0.2071918746486116)
    for mode in ["rr", "ff", "fr", "rf"]:
        yield mode, {"w": 0.0}, value


def saddle():
    def f(x, y):
        return np.sum(x * x) - np.sum(y * y)

    def highest(x, start):
        y = argmin(lambda y: -f(x, y), lambda y: 2 * y, start.astype(complex))
        return f(x, y)

    for start in [np.array([1.0, 1.0]), np.array([0.3, -0.2])]:
        x = argmin(
            lambda x: highest(x, start).real,
            lambda x: agree(complex_step(lambda z: highest(z, start), x), 2 * x),
            start,
        )
        y = argmin(lambda y: -f(x, y), lambda y: 2 * y, start)
        output = np.concatenate([x, y])
        if start[0] == 1:
            agree(output / 8.246324826140356e-06, np.ones(4))
        for mode in ["rr", "ff", "fr", "rf"]:
            yield mode, {"start": start}, output


def gmm():
    rng = np.random.default_rng(6)

    def objective(d, k, n, x, m, gamma, alpha, mu, q, l):
        terms = np.zeros((n, k), dtype=np.result_type(alpha, mu, q, l))
        rows, columns = np.array([(r, c) for c in range(d) for r in range(c + 1, d)]).reshape(-1, 2).T.astype(int)
        for j in range(k):
            triangle = np.diag(np.exp(q[j]))
            triangle[rows, columns] = l[j]
            z = (x - mu[j]) @ triangle.T
            terms[:, j] = alpha[j] + q[j].sum() - 0.5 * (z * z).sum(axis=1)
        df = d + m + 1
        wishart = df * d * (math.log(gamma) - 0.5 * math.log(2)) - (
            d * (d - 1) / 4 * math.log(math.pi) + sum(math.lgamma(df / 2 + (1 - j) / 2) for j in range(1, d + 1))
        )
        prior = k * wishart - gamma**2 / 2 * (np.exp(2 * q).sum() + (l * l).sum()) + m * q.sum()
        fit = sum(log_sum_exp(row) for row in terms)
        return -n * d / 2 * math.log(2 * math.pi) - n * log_sum_exp(alpha) + fit + prior

    for d, k, n, m, gamma in [(1, 1, 2, 0, 1.0), (2, 3, 5, 0, 1.0), (4, 2, 6, 2, 0.5), (5, 4, 9, 1, 2.0)]:
        shapes = {"alpha": (k,), "mu": (k, d), "q": (k, d), "l": (k, d * (d - 1) // 2)}
        sizes = [math.prod(shape) for shape in shapes.values()]
        point = draw(rng, sum(sizes), low=-1)
        fixed = {"d": d, "k": k, "n": n, "x": draw(rng, n, d, low=-1), "m": m, "gamma": gamma}

        def parts(point):
            pieces = np.split(point, np.cumsum(sizes)[:-1])
            return {name: piece.reshape(shape) for (name, shape), piece in zip(shapes.items(), pieces)}

        data = fixed | parts(point)
        yield "objective", data, objective(**data)
        yield "jacobian", data, parts(complex_step(lambda z: objective(**fixed, **parts(z)), point))


def lstm():
    rng = np.random.default_rng(7)

    def sigmoid(x):
        return 1 / (1 + np.exp(-x))

    def objective(main, extra, state, sequence):
        state = state.astype(main.dtype)
        c, b = sequence.shape
        total = 0
        for t in range(c - 1):
            u = sequence[t] * extra[0]
            for a in range(len(main) // 2):
                wf, wi, wo, wc = main[2 * a].reshape(4, b)
                bf, bi, bo, bc = main[2 * a + 1].reshape(4, b)
                h, cell = state[2 * a], state[2 * a + 1]
                take = sigmoid(h * wi + bi) * np.tanh(h * wc + bc)
                state[2 * a + 1] = cell * sigmoid(u * wf + bf) + take
                state[2 * a] = u = sigmoid(u * wo + bo) * np.tanh(state[2 * a + 1])
            y = u * extra[1] + extra[2]
            total = total + np.sum(sequence[t + 1] * (y - np.log(2 + np.sum(np.exp(y)))))
        return -total / (b * (c - 1))

    for layers, c, b in [(1, 2, 1), (2, 6, 3), (3, 9, 5)]:
        main, extra = draw(rng, 2 * layers, 4 * b), draw(rng, 3, b)
        state, sequence = draw(rng, 2 * layers, b), np.round(draw(rng, c, b))
        data = {"main_params": main, "extra_params": extra, "state": state, "sequence": sequence}

        def at(point):
            return objective(point[: main.size].reshape(main.shape), point[main.size :].reshape(3, b), state, sequence)

        yield "objective", data, objective(main, extra, state, sequence)
        yield "jacobian", data, complex_step(at, np.concatenate([main.ravel(), extra.ravel()]))


def ba():
    rng = np.random.default_rng(8)

    def reprojection(z, feat):
        r, centre, f, centre2, k1, k2 = z[:3], z[3:6], z[6], z[7:9], z[9], z[10]
        x, w = z[11:14], z[14]
        p = x - centre
        square = np.sum(r * r)
        if square == 0:
            p = p + np.cross(r, p)
        else:
            angle = np.sqrt(square)
            u = r / angle
            p = p * np.cos(angle) + np.cross(u, p) * np.sin(angle) + u * np.sum(u * p) * (1 - np.cos(angle))
        e = p[:2] / p[2]
        s = np.sum(e * e)
        return w * (f * e * (1 + k1 * s + k2 * s * s) + centre2 - feat)

    def excerpt(a):
        return a[:30] + a[-1:]

    for n, m, p, still in [(1, 1, 10, False), (2, 3, 12, False), (3, 5, 11, True)]:
        cam, x, feat = draw(rng, 11), draw(rng, 3) + [0, 0, 4], draw(rng, 2)
        if still:
            cam[:3] = 0
        w = float(draw(rng))
        z = np.concatenate([cam, x, [w]])
        data = {"n": n, "m": m, "p": p, "cam": cam, "x": x, "w": w, "feat": feat}
        yield "objective", data, {
            "reproj_error": {"elements": reprojection(z, feat), "repeated": p},
            "w_err": {"element": 1 - w * w, "repeated": p},
        }
        # A complex step of r from 0 has r.r < 0, which is no rotation, but its square underflows to 0: the branch
        # for r = 0 is taken, as it should.
        block = complex_step(lambda z: reprojection(z, feat), z)
        rows, cols, vals = [0], [], []
        for i in range(p):
            columns = [11 * (i % n) + a for a in range(11)] + [11 * n + 3 * (i % m) + a for a in range(3)]
            for row in block:
                cols += columns + [11 * n + 3 * m + i]
                vals += list(row)
                rows.append(len(cols))
        for i in range(p):
            cols.append(11 * n + 3 * m + i)
            vals.append(-2 * w)
            rows.append(len(cols))
        yield "jacobian", data, {"rows": excerpt(rows), "cols": excerpt(cols), "vals": excerpt(vals)}


def ht():
    rng = np.random.default_rng(9)
    bones = 22

    def about(axis, angle):
        c, s, a, b = np.cos(angle), np.sin(angle), (axis + 1) % 3, (axis + 2) % 3
        m = np.eye(4, dtype=np.asarray(angle).dtype)
        m[a, a], m[b, b], m[a, b], m[b, a] = c, c, -s, s
        return m

    def axis_angle(r):
        angle = norm(r)
        if angle.real < 1e-4:
            return np.eye(3)
        a = r / angle
        crossed = np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])
        aa = np.outer(a, a)
        return aa + (np.eye(3) - aa) * np.cos(angle) + crossed * np.sin(angle)

    def objective(theta, data, us):
        model = data["model"]
        pose = np.zeros((bones, 3), dtype=theta.dtype)
        for finger in range(5):
            t, b = 6 + 4 * finger, 2 + 4 * finger
            pose[b, 0], pose[b, 1], pose[b + 1, 0], pose[b + 2, 0] = theta[t : t + 4]
        absolutes = []
        for b, parent in enumerate(model["parents"]):
            turn = about(2, pose[b, 1]) @ about(1, pose[b, 2]) @ about(0, pose[b, 0])
            relative = model["base_relatives"][b] @ turn
            absolutes.append(relative if parent == -1 else absolutes[parent] @ relative)
        moves = np.array(absolutes) @ model["inverse_base_absolutes"]
        vertices = np.einsum("vb,bij,vj->vi", model["weights"], moves, model["base_positions"])[:, :3]
        if model["is_mirrored"]:
            vertices = vertices * [-1, 1, 1]
        vertices = vertices @ axis_angle(theta[:3]).T + theta[3:6]
        correspondences = data["correspondences"]
        if len(us) == 0:
            places = vertices[correspondences]
        else:
            a, b, c = vertices[model["triangles"][correspondences]].transpose(1, 0, 2)
            places = us[:, :1] * a + us[:, 1:] * b + (1 - us[:, :1] - us[:, 1:]) * c
        return (data["points"] - places).ravel()

    for vertices, faces, n, complicated, mirrored, still in [
        (7, 3, 4, True, False, False), (5, 3, 3, True, True, True), (6, 4, 3, False, True, False)]:  # fmt: skip
        theta = draw(rng, 26, low=-1)
        if still:
            theta[:3] = 1e-5
        weights = draw(rng, vertices, bones)
        weights[weights < 0.8] = 0
        model = {
            "bone_count": bones,
            "bone_names": [f"bone{b}" for b in range(bones)],
            "parents": np.array([-1, 0] + [1 if b % 4 == 2 else b - 1 for b in range(2, bones)]),
            "base_relatives": draw(rng, bones, 4, 4, low=-0.7, high=0.7),
            "inverse_base_absolutes": draw(rng, bones, 4, 4, low=-0.7, high=0.7),
            "base_positions": np.concatenate([draw(rng, vertices, 3), np.ones((vertices, 1))], axis=1),
            "weights": weights,
            "triangles": rng.integers(0, vertices, (faces, 3)),
            "is_mirrored": mirrored,
        }
        data = {
            "model": model,
            "correspondences": rng.integers(0, faces if complicated else vertices, n),
            "points": draw(rng, n, 3),
        }
        us = draw(rng, n, 2) if complicated else np.zeros((0, 2))
        whole = {"theta": theta, "data": data, "us": us}
        yield "objective", whole, objective(theta, data, us)
        jacobian = complex_step(lambda z: objective(z, data, us), theta)
        if complicated:
            # Correspondences are independent: one step moves all their first coordinates, another the second ones.
            both = [np.imag(objective(theta, data, us + 1j * STEP * np.eye(2)[a])) / STEP for a in range(2)]
            jacobian = np.column_stack([*both, jacobian])
        yield "jacobian", whole, jacobian


EVALS = [hello, llsq, lse, kmeans, det, ode, particle, saddle, gmm, lstm, ba, ht]


def plain(value):
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    assert not isinstance(value, complex), value
    return value


def close(a, b):
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(close(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(close, a, b))
    if isinstance(a, (str, bool)):
        return a == b
    return abs(a - b) <= 1e-11 * max(1, abs(a) + abs(b))


def main():
    FOLDER.mkdir(exist_ok=True)
    for evaluation in EVALS:
        path = FOLDER / f"{evaluation.__name__}.jsonl"
        cases = [plain({"function": f, "input": x, "output": y}) for f, x, y in evaluation()]
        if "--check" in sys.argv:
            committed = [json.loads(line) for line in path.read_text().splitlines()]
            assert close(cases, committed), path
        else:
            path.write_text("".join(json.dumps(case, separators=(",", ":")) + "\n" for case in cases))
        print(f"{evaluation.__name__}: {len(cases)} cases")


main()
