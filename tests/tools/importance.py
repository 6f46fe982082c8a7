"""What llama.cpp multiplies the weights of a model with, as an importance matrix: the means of the squares of what comes
into each column, of one text, as llama-imatrix gathers them. For models without experts.

Needs llama-cpp-python, numpy and gguf, as compare_llama.py does, which uses this.
"""
import ctypes
import llama_cpp as L
import numpy as np
from llama_cpp._ggml import libggml
import llama_peer

WINDOW = 256  # tokens that are read at a time


class Tensor(ctypes.Structure):
    """ggml_tensor of ggml.h, as of 0.25."""


Tensor._fields_ = [("type", ctypes.c_int), ("buffer", ctypes.c_void_p), ("ne", ctypes.c_int64 * 4),
                   ("nb", ctypes.c_size_t * 4), ("op", ctypes.c_int), ("op_params", ctypes.c_int32 * 16),
                   ("flags", ctypes.c_int32), ("src", ctypes.POINTER(Tensor) * 10), ("view_src", ctypes.c_void_p),
                   ("view_offs", ctypes.c_size_t), ("data", ctypes.c_void_p), ("name", ctypes.c_char * 64)]
libggml.ggml_op_desc.restype = ctypes.c_char_p
libggml.ggml_op_desc.argtypes = [ctypes.POINTER(Tensor)]


def gather(load, path, ids):
    """A mapping of names of weights to means of squares, in float32. `load` opens the GGUF file."""
    sums, counts = {}, {}

    def look(tensor, ask, _):
        tensor = ctypes.cast(tensor, ctypes.POINTER(Tensor))
        if libggml.ggml_op_desc(tensor) != b"MUL_MAT":
            return not ask
        weights, values = tensor.contents.src[0].contents, tensor.contents.src[1].contents
        name = weights.name.decode()
        if not name.startswith("blk.") or not name.endswith(".weight"):
            return not ask
        if not ask:
            columns, rows = values.ne[0], values.ne[1]
            assert values.type == 0 and values.nb[0] == 4 and values.nb[1] == 4 * columns, name
            x = np.ctypeslib.as_array(ctypes.cast(values.data, ctypes.POINTER(ctypes.c_float)), shape=(rows, columns))
            sums[name] = sums.get(name, 0) + (x.astype(np.float64) ** 2).sum(axis=0)
            counts[name] = counts.get(name, 0) + rows
        return True

    params = L.llama_context_default_params()
    params.n_ctx = params.n_batch = params.n_ubatch = WINDOW + 8
    params.n_threads = params.n_threads_batch = 1
    params.cb_eval = L.ggml_backend_sched_eval_callback(look)
    for at in range(0, len(ids) - WINDOW + 1, WINDOW):
        llama_peer.logits(L, load(path), params, ids[at:at + WINDOW])
    return {name: (sums[name] / counts[name]).astype(np.float32) for name in sums}


def write(path, matrix):
    """As llama-imatrix writes it."""
    from gguf import GGUFWriter
    file = GGUFWriter(path, "imatrix")
    file.add_string("general.type", "imatrix")
    file.add_array("imatrix.datasets", ["text"])
    file.add_uint32("imatrix.chunk_count", 1)
    file.add_uint32("imatrix.chunk_size", WINDOW)
    for name, values in matrix.items():
        file.add_tensor(name + ".in_sum2", values.reshape(1, -1))
        file.add_tensor(name + ".counts", np.ones((1, 1), np.float32))
    file.write_header_to_file()
    file.write_kv_data_to_file()
    file.write_tensors_to_file()
    file.close()


def as_parameter(matrix):
    """For llama_model_quantize, and what has to stay alive until then."""
    entries = (L.llama_model_imatrix_data * (len(matrix) + 1))()
    names = [name.encode() for name in matrix]
    for entry, name, values in zip(entries, names, matrix.values()):
        entry.name, entry.data, entry.size = name, values.ctypes.data_as(ctypes.POINTER(ctypes.c_float)), values.size
    return entries, names
