"""The recurrent layer as an ONNX model, and a session that runs it on one thread."""
from timing import UNPINNED

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper


def model(kernel, bias, steps, batch):
    """One LSTM operator. `kernel` is [4, units, inputs + units], gates in the order forget, input, output, candidate."""
    units = kernel.shape[1]
    inputs = kernel.shape[2] - units
    order = [1, 2, 0, 3]  # ONNX has input, output, forget, cell
    w = kernel[order][:, :, :inputs].reshape(1, 4 * units, inputs)
    r = kernel[order][:, :, inputs:].reshape(1, 4 * units, units)
    b = np.concatenate([bias[order].reshape(1, 4 * units), np.zeros((1, 4 * units), np.float32)], axis=1)
    weights = [numpy_helper.from_array(np.ascontiguousarray(a), n) for a, n in ((w, "w"), (r, "r"), (b, "b"))]
    state = [1, batch, units]
    node = helper.make_node(
        "LSTM", ["x", "w", "r", "b", "", "h0", "c0"], ["y", "h", "c"], hidden_size=units
    )
    value = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    graph = helper.make_graph(
        [node],
        "layer",
        [value("x", [steps, batch, inputs]), value("h0", state), value("c0", state)],
        [value("y", [steps, 1, batch, units]), value("h", state), value("c", state)],
        weights,
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(made)
    return made


def session(of):
    options = onnxruntime.SessionOptions()
    if not UNPINNED:
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(of.SerializeToString(), options, providers=["CPUExecutionProvider"])
