"""GradBench gmm: `gmm.py PEER gmm-d10-k25-n1000-gradient`, or `-objective`. The Wishart prior has gamma 1 and m 0."""
from math import lgamma, log, pi

from timing import UNPINNED, main, norm, numbers, settings, sizes

import numpy as np

(peer, workload), seconds = settings()
size = sizes(workload, d=10, k=25, n=1000)
D, K, N = size["d"], size["k"], size["n"]
is_gradient = workload.endswith("-gradient")
alpha = numbers(1, (K,), 1.0)
mu = numbers(2, (K, D), 1.0)
q = numbers(3, (K, D), 0.1)
below = np.tri(D, k=-1)
l = numbers(4, (K, D, D), 0.1) * below
x = numbers(5, (N, D), 1.0)


def constant():
    """What does not depend on parameters."""
    n = D + 1
    gamma = 0.25 * D * (D - 1) * log(pi) + sum(lgamma(0.5 * n + 0.5 * (1 - j)) for j in range(1, D + 1))
    return -0.5 * N * D * log(2 * pi) - K * (-n * D * 0.5 * log(2.0) - gamma)


def with_jax():
    import jax

    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp
    from jax.scipy.special import logsumexp

    def objective(alpha, mu, q, l, x):
        root = l * below + jnp.exp(q)[:, :, None] * jnp.eye(D)
        away = jnp.einsum("kij,nkj->nki", root, x[:, None, :] - mu)
        inner = alpha + jnp.sum(q, 1) - 0.5 * jnp.sum(away * away, 2)
        fit = jnp.sum(logsumexp(inner, axis=1)) - N * logsumexp(alpha)
        return constant() + fit + 0.5 * jnp.sum(root * root)

    def expanded(alpha, mu, q, l, x):
        """The same with one plain product: Q (x - mu) is Q x - Q mu."""
        root = l * below + jnp.exp(q)[:, :, None] * jnp.eye(D)
        away = (x @ root.reshape(K * D, D).T).reshape(N, K, D) - jnp.einsum("kij,kj->ki", root, mu)
        inner = alpha + jnp.sum(q, 1) - 0.5 * jnp.sum(away * away, 2)
        fit = jnp.sum(logsumexp(inner, axis=1)) - N * logsumexp(alpha)
        return constant() + fit + 0.5 * jnp.sum(root * root)

    arrays = [jnp.asarray(array) for array in (alpha, mu, q, l, x)]

    def thing(variant, objective):
        function = jax.jit(jax.value_and_grad(objective, (0, 1, 2, 3)) if is_gradient else objective)

        def run():
            return jax.block_until_ready(function(*arrays))

        check = [float(run()[0]), norm(run()[1])] if is_gradient else [float(run())]
        return (workload, "jax", variant, run, check)

    return [thing("jit", objective), thing("jit, expanded", expanded)]


def with_torch(is_compiled=False):
    import torch

    if not UNPINNED:
        torch.set_num_threads(1)
    made = lambda array: torch.tensor(array, requires_grad=is_gradient)
    parameters = [made(array) for array in (alpha, mu, q, l)]
    points, mask, one = torch.tensor(x), torch.tensor(below), torch.eye(D, dtype=torch.float64)

    def objective(alpha, mu, q, l):
        root = l * mask + torch.exp(q)[:, :, None] * one
        away = torch.einsum("kij,nkj->nki", root, points[:, None, :] - mu)
        inner = alpha + torch.sum(q, 1) - 0.5 * torch.sum(away * away, 2)
        fit = torch.sum(torch.logsumexp(inner, 1)) - N * torch.logsumexp(alpha, 0)
        return constant() + fit + 0.5 * torch.sum(root * root)

    function = torch.compile(objective) if is_compiled else objective
    variant = "compile" if is_compiled else "eager"

    def value():
        return function(*parameters)

    def gradient():
        loss = function(*parameters)
        return loss, torch.autograd.grad(loss, parameters)

    if not is_gradient:
        return [(workload, "torch", variant, value, [value().item()])]
    loss, slopes = gradient()
    return [(workload, "torch", variant, gradient, [loss.item(), norm(slopes)])]


peers = {"jax": with_jax, "torch": with_torch, "torch.compile": lambda: with_torch(is_compiled=True)}
main(peers[peer](), seconds)
