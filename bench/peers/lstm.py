"""A recurrent layer over sequences: `lstm.py PEER lstm-forward-h64-b1`, or `lstm-train-…`."""
from timing import UNPINNED, main, norm, numbers, settings, sizes

import numpy as np

(peer, workload), seconds = settings()
size = sizes(workload, h=64, b=1, i=32, t=100)
H, B, I, T = size["h"], size["b"], size["i"], size["t"]
is_training = workload.startswith("lstm-train")
kernel = numbers(1, (4, H, I + H), 0.1).astype(np.float32)  # forget, input, output, candidate
bias = numbers(2, (4, H), 0.1).astype(np.float32)
x = numbers(3, (T, B, I), 1.0).astype(np.float32)


def with_jax():
    import jax
    import jax.numpy as jnp
    from jax.nn import sigmoid

    def loss(kernel, bias, x):
        into = jnp.einsum("tbi,ghi->tbgh", x, kernel[:, :, :I]) + bias
        recurrent = kernel[:, :, I:].reshape(4 * H, H).T

        def step(state, into):
            h, c = state
            z = into + (h @ recurrent).reshape(B, 4, H)
            c = sigmoid(z[:, 0]) * c + sigmoid(z[:, 1]) * jnp.tanh(z[:, 3])
            h = sigmoid(z[:, 2]) * jnp.tanh(c)
            return (h, c), h

        zero = jnp.zeros((B, H), jnp.float32)
        _, h = jax.lax.scan(step, (zero, zero), into)
        return jnp.mean(h * h)

    arrays = [jnp.asarray(array) for array in (kernel, bias, x)]
    function = jax.jit(jax.value_and_grad(loss, (0, 1)) if is_training else loss)

    def run():
        return jax.block_until_ready(function(*arrays))

    check = [float(run()[0]), norm(run()[1])] if is_training else [float(run())]
    return [(workload, "jax", "jit, scan", run, check)]


def with_torch():
    import torch

    if not UNPINNED:
        torch.set_num_threads(1)
    layer = torch.nn.LSTM(I, H)
    order = [1, 0, 3, 2]  # PyTorch has input, forget, candidate, output
    with torch.no_grad():
        layer.weight_ih_l0.copy_(torch.tensor(kernel[order][:, :, :I].reshape(4 * H, I)))
        layer.weight_hh_l0.copy_(torch.tensor(kernel[order][:, :, I:].reshape(4 * H, H)))
        layer.bias_ih_l0.copy_(torch.tensor(bias[order].reshape(4 * H)))
        layer.bias_hh_l0.zero_()
    layer.bias_hh_l0.requires_grad_(False)
    data = torch.tensor(x)

    def forward():
        with torch.no_grad():
            return torch.mean(layer(data)[0] ** 2)

    def train():
        layer.zero_grad(set_to_none=True)
        loss = torch.mean(layer(data)[0] ** 2)
        loss.backward()
        return loss

    if not is_training:
        return [(workload, "torch", "nn.LSTM", forward, [forward().item()])]
    loss = train().item()
    slopes = [p.grad.numpy() for p in layer.parameters() if p.grad is not None]
    return [(workload, "torch", "nn.LSTM", train, [loss, norm(slopes)])]


def with_onnxruntime():
    if is_training:
        return []
    import onnx_lstm

    session = onnx_lstm.session(onnx_lstm.model(kernel, bias, steps=T, batch=B))
    zero = np.zeros((1, B, H), np.float32)
    feed = {"x": x, "h0": zero, "c0": zero}

    def run():
        return session.run(["y"], feed)[0]

    check = [float(np.mean(np.square(run().astype(np.float64))))]
    return [(workload, "onnxruntime", "run()", run, check)]


main({"jax": with_jax, "torch": with_torch, "onnxruntime": with_onnxruntime}[peer](), seconds)
