"""The Hessian of a network's loss times a vector: `hvp.py PEER hvp-8-32-32-1-b64-product`, or `-gradient`."""
from timing import UNPINNED, main, norm, numbers, settings

(peer, workload), seconds = settings()
N, H = (int(part) for part in workload.split("-")[1:3])
B = int(workload.split("-b")[1].split("-")[0])
is_product = workload.endswith("-product")
shapes = [(N, H), (H,), (H, H), (H,), (H, 1), (1,)]
parameters = [numbers(1 + i, shape, 0.3) for i, shape in enumerate(shapes)]
vector = [numbers(11 + i, shape, 1.0) for i, shape in enumerate(shapes)]
x = numbers(7, (B, N), 1.0)
gt = numbers(8, (B, 1), 1.0)


def with_jax():
    import jax

    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp

    def loss(parameters, x, gt):
        w1, b1, w2, b2, w3, b3 = parameters
        y = jnp.tanh(jnp.tanh(x @ w1 + b1) @ w2 + b2) @ w3 + b3
        return jnp.mean((y - gt) ** 2)

    slope = jax.grad(loss)

    def forward_over_reverse(parameters, x, gt, vector):
        return jax.jvp(lambda p: slope(p, x, gt), (parameters,), (vector,))

    def reverse_over_reverse(parameters, x, gt, vector):
        def along(parameters):
            slopes = slope(parameters, x, gt)
            return sum(jnp.vdot(left, right) for left, right in zip(slopes, vector)), slopes

        product, slopes = jax.grad(along, has_aux=True)(parameters)
        return slopes, product

    at = [jnp.asarray(array) for array in parameters]
    data = at, jnp.asarray(x), jnp.asarray(gt)
    direction = [jnp.asarray(array) for array in vector]
    value = float(loss(*data))

    def thing(variant, function, arguments):
        run = lambda: jax.block_until_ready(function(*arguments))
        out = run()
        check = [value, norm(out[0]), norm(out[1])] if is_product else [value, norm(out[1])]
        return (workload, "jax", variant, run, check)

    if not is_product:
        return [thing("jit", jax.jit(jax.value_and_grad(loss)), data)]
    return [
        thing("jit, forward over reverse", jax.jit(forward_over_reverse), (*data, direction)),
        thing("jit, reverse over reverse", jax.jit(reverse_over_reverse), (*data, direction)),
    ]


def with_torch():
    import torch

    if not UNPINNED:
        torch.set_num_threads(1)
    p = [torch.tensor(array, requires_grad=True) for array in parameters]
    v = [torch.tensor(array) for array in vector]
    data, wanted = torch.tensor(x), torch.tensor(gt)

    def loss():
        hidden = torch.tanh(torch.tanh(data @ p[0] + p[1]) @ p[2] + p[3])
        return torch.mean((hidden @ p[4] + p[5] - wanted) ** 2)

    def gradient():
        return torch.autograd.grad(loss(), p)

    def product():
        slopes = torch.autograd.grad(loss(), p, create_graph=True)
        return slopes, torch.autograd.grad(slopes, p, v)

    value = loss().item()
    if not is_product:
        slopes = gradient()
        return [(workload, "torch", "eager", gradient, [value, norm(slopes)])]
    slopes, second = product()
    detached = [slope.detach() for slope in slopes]
    return [(workload, "torch", "double backward", product, [value, norm(detached), norm(second)])]


main({"jax": with_jax, "torch": with_torch}[peer](), seconds)
