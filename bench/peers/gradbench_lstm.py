"""GradBench lstm: `gradbench_lstm.py PEER gradbench-lstm-l2-c1024-gradient`, or `-objective`."""
from timing import UNPINNED, main, norm, numbers, settings, sizes

import numpy as np

(peer, workload), seconds = settings()
size = sizes(workload, l=2, c=1024, b=14)
L, C, B = size["l"], size["c"], size["b"]
is_gradient = workload.endswith("-gradient")
extra = numbers(1, (3, B), 1.0)
sequence = (numbers(2, (C, B), 1.0) > 0).astype(np.float64)
weight = np.stack([numbers(10 + 2 * layer, (4, B), 1.0) for layer in range(L)])
bias = np.stack([numbers(11 + 2 * layer, (4, B), 1.0) for layer in range(L)])


def with_jax():
    import jax

    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp
    from jax.nn import sigmoid

    def objective(weight, bias, extra, sequence):
        def step(state, both):
            x, gold = both
            x = x * extra[0]
            h, c = [], []
            for layer in range(L):
                w, b, before = weight[layer], bias[layer], state[0][layer]
                forget = sigmoid(x * w[0] + b[0])
                add = sigmoid(before * w[1] + b[1])
                show = sigmoid(x * w[2] + b[2])
                change = jnp.tanh(before * w[3] + b[3])
                c.append(state[1][layer] * forget + add * change)
                x = show * jnp.tanh(c[-1])
                h.append(x)
            y = x * extra[1] + extra[2]
            hit = jnp.sum(gold * (y - jnp.log(jnp.sum(jnp.exp(y)) + 2.0)))
            return (jnp.stack(h), jnp.stack(c)), hit

        zero = jnp.zeros((L, B))
        _, hits = jax.lax.scan(step, (zero, zero), (sequence[:-1], sequence[1:]))
        return -jnp.sum(hits) / ((C - 1) * B)

    arrays = [jnp.asarray(array) for array in (weight, bias, extra, sequence)]
    function = jax.jit(jax.value_and_grad(objective, (0, 1, 2)) if is_gradient else objective)

    def run():
        return jax.block_until_ready(function(*arrays))

    check = [float(run()[0]), norm(run()[1])] if is_gradient else [float(run())]
    return [(workload, "jax", "jit, scan", run, check)]


def with_torch():
    import torch

    if not UNPINNED:
        torch.set_num_threads(1)
    w, b, e = (torch.tensor(array, requires_grad=is_gradient) for array in (weight, bias, extra))
    characters = list(torch.tensor(sequence))

    def objective():
        h = [torch.zeros(B, dtype=torch.float64)] * L
        c = [torch.zeros(B, dtype=torch.float64)] * L
        total = 0.0
        for x, gold in zip(characters, characters[1:]):
            x = x * e[0]
            for layer in range(L):
                forget = torch.sigmoid(x * w[layer, 0] + b[layer, 0])
                add = torch.sigmoid(h[layer] * w[layer, 1] + b[layer, 1])
                show = torch.sigmoid(x * w[layer, 2] + b[layer, 2])
                change = torch.tanh(h[layer] * w[layer, 3] + b[layer, 3])
                c[layer] = c[layer] * forget + add * change
                h[layer] = x = show * torch.tanh(c[layer])
            y = x * e[1] + e[2]
            total = total + torch.sum(gold * (y - torch.log(torch.sum(torch.exp(y)) + 2.0)))
        return -total / ((C - 1) * B)

    def gradient():
        loss = objective()
        return loss, torch.autograd.grad(loss, (w, b, e))

    if not is_gradient:
        return [(workload, "torch", "eager", objective, [objective().item()])]
    loss, slopes = gradient()
    return [(workload, "torch", "eager", gradient, [loss.item(), norm(slopes)])]


main({"jax": with_jax, "torch": with_torch}[peer](), seconds)
