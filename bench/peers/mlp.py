"""A step of gradient descent of a perceptron: `mlp.py PEER mlp-784-100-10-b32`."""
from timing import UNPINNED, main, numbers, settings

import numpy as np

(peer, workload), seconds = settings()
N, H, C = (int(part) for part in workload.split("-")[1:4])
B = int(workload.split("-b")[1])
RATE = 0.1
w1 = numbers(1, (N, H), 0.05).astype(np.float32)
b1 = numbers(2, (H,), 0.05).astype(np.float32)
w2 = numbers(3, (H, C), 0.05).astype(np.float32)
b2 = numbers(4, (C,), 0.05).astype(np.float32)
x = numbers(5, (B, N), 1.0).astype(np.float32)
wanted = np.arange(B) % C


def ten_steps(step):
    """The losses of the first and of the tenth step."""
    losses = [float(step()) for _ in range(10)]
    return [losses[0], losses[9]]


def with_jax():
    import jax
    import jax.numpy as jnp

    def loss(parameters, x, wanted):
        w1, b1, w2, b2 = parameters
        o = jax.nn.relu(x @ w1 + b1) @ w2 + b2
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(o), wanted[:, None], 1))

    def update(parameters, x, wanted):
        value, slopes = jax.value_and_grad(loss)(parameters, x, wanted)
        return value, tuple(p - RATE * slope for p, slope in zip(parameters, slopes))

    # The old parameters are given away, so that a step may write over them.
    one = jax.jit(update, donate_argnums=0)
    place = [tuple(jnp.array(array) for array in (w1, b1, w2, b2))]
    data = jnp.asarray(x), jnp.asarray(wanted)

    def step():
        value, place[0] = one(place[0], *data)
        jax.block_until_ready(place[0])
        return value

    return [(workload, "jax", "jit", step, ten_steps(step))]


def with_torch(is_compiled=False):
    import torch

    if not UNPINNED:
        torch.set_num_threads(1)
    network = torch.nn.Sequential(torch.nn.Linear(N, H), torch.nn.ReLU(), torch.nn.Linear(H, C))
    with torch.no_grad():
        network[0].weight.copy_(torch.tensor(w1.T))
        network[0].bias.copy_(torch.tensor(b1))
        network[2].weight.copy_(torch.tensor(w2.T))
        network[2].bias.copy_(torch.tensor(b2))
    optimiser = torch.optim.SGD(network.parameters(), lr=RATE)
    data, classes = torch.tensor(x), torch.tensor(wanted)
    answer = torch.compile(network) if is_compiled else network

    def step():
        optimiser.zero_grad(set_to_none=True)
        loss = torch.nn.functional.cross_entropy(answer(data), classes)
        loss.backward()
        optimiser.step()
        return loss.detach()

    return [(workload, "torch", "compile" if is_compiled else "eager", step, ten_steps(step))]


peers = {"jax": with_jax, "torch": with_torch, "torch.compile": lambda: with_torch(is_compiled=True)}
main(peers[peer](), seconds)
