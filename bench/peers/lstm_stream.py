"""One step of a recurrent layer at a time: `lstm_stream.py PEER lstm-stream-h64`. A call gets numbers and gives numbers."""
from timing import UNPINNED, main, numbers, settings, sizes

import numpy as np

(peer, workload), seconds = settings()
size = sizes(workload, h=64, i=32, t=100)
H, I, T = size["h"], size["i"], size["t"]
kernel = numbers(1, (4, H, I + H), 0.1).astype(np.float32)  # forget, input, output, candidate
bias = numbers(2, (4, H), 0.1).astype(np.float32)
x = numbers(3, (T, 1, I), 1.0).astype(np.float32)


def streaming(inputs, start, step, read):
    """What to call for the next step, and the mean of h² over the first T steps. `step` maps state and input to state."""
    state = start
    sum_of_squares = 0.0
    for item in inputs:
        state = step(state, item)
        sum_of_squares += float(np.sum(np.square(np.asarray(read(state), np.float64))))
    place = [state, 0]

    def run():
        place[0] = step(place[0], inputs[place[1]])
        place[1] = (place[1] + 1) % T

    return run, [sum_of_squares / (T * H)]


def with_jax():
    import jax
    import jax.numpy as jnp
    from jax.nn import sigmoid

    weights = jnp.asarray(kernel.reshape(4 * H, I + H).T)
    added = jnp.asarray(bias)

    @jax.jit
    def one(h, c, x):
        z = (jnp.concatenate([x, h], 1) @ weights).reshape(1, 4, H) + added
        c = sigmoid(z[:, 0]) * c + sigmoid(z[:, 1]) * jnp.tanh(z[:, 3])
        return sigmoid(z[:, 2]) * jnp.tanh(c), c

    def step(state, x):
        return jax.block_until_ready(one(*state, x))

    zero = jnp.zeros((1, H), jnp.float32)
    on_device = streaming([jnp.asarray(item) for item in x], (zero, zero), step, lambda state: state[0])

    def from_numpy(state, x):
        return tuple(np.asarray(part) for part in one(*state, x))

    by_numpy = streaming(x, (np.asarray(zero),) * 2, from_numpy, lambda state: state[0])
    return [(workload, "jax", "jit, device state", *on_device), (workload, "jax", "jit, numpy state", *by_numpy)]


def with_torch():
    import torch

    if not UNPINNED:
        torch.set_num_threads(1)
    cell = torch.nn.LSTMCell(I, H)
    order = [1, 0, 3, 2]  # PyTorch has input, forget, candidate, output
    with torch.no_grad():
        cell.weight_ih.copy_(torch.tensor(kernel[order][:, :, :I].reshape(4 * H, I)))
        cell.weight_hh.copy_(torch.tensor(kernel[order][:, :, I:].reshape(4 * H, H)))
        cell.bias_ih.copy_(torch.tensor(bias[order].reshape(4 * H)))
        cell.bias_hh.zero_()

    def step(state, x):
        with torch.inference_mode():
            return cell(x, state)

    zero = torch.zeros(1, H)
    things = streaming([torch.tensor(item) for item in x], (zero, zero), step, lambda state: state[0])
    return [(workload, "torch", "LSTMCell, inference_mode", *things)]


def with_onnxruntime():
    import onnx_lstm
    import onnxruntime

    session = onnx_lstm.session(onnx_lstm.model(kernel, bias, steps=1, batch=1))
    zero = np.zeros((1, 1, H), np.float32)

    def step(state, x):
        return session.run(["h", "c"], {"x": x[None], "h0": state[0], "c0": state[1]})

    plain = streaming(x, (zero, zero), step, lambda state: state[0])

    # Two buffers of state that change places, and two bindings.
    value = lambda array: onnxruntime.OrtValue.ortvalue_from_numpy(array.copy())
    item = value(x[:1])
    states = [[value(zero), value(zero)], [value(zero), value(zero)]]
    bindings = []
    for side in (0, 1):
        binding = session.io_binding()
        binding.bind_ortvalue_input("x", item)
        binding.bind_ortvalue_input("h0", states[side][0])
        binding.bind_ortvalue_input("c0", states[side][1])
        binding.bind_ortvalue_output("h", states[1 - side][0])
        binding.bind_ortvalue_output("c", states[1 - side][1])
        bindings.append(binding)

    def bound(side, x):
        item.update_inplace(x[None])
        session.run_with_iobinding(bindings[side])
        return 1 - side

    by_binding = streaming(x, 0, bound, lambda side: states[side][0].numpy())
    return [
        (workload, "onnxruntime", "io-binding", *by_binding),
        (workload, "onnxruntime", "run()", *plain),
    ]


main({"jax": with_jax, "torch": with_torch, "onnxruntime": with_onnxruntime}[peer](), seconds)
