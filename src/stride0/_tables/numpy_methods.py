"""Methods and attributes of NumPy arrays and PyTorch tensors that stride0 arrays lack, with replacements.

As in `numpy_names`: in calls, `a` is a matrix, `v` and `w` are vectors, `s` is a square matrix, and `i` an
integer vector.
"""

from typing import Final, NamedTuple

__all__ = ["METHODS", "Row", "advice"]


class Row(NamedTuple):
    """The replacement of a name: what to write instead."""

    theirs: str
    ours: str = ""
    remark: str = ""


METHODS: Final[dict[str, Row]] = {
    "argpartition": Row("v.argpartition(1)", "xp.argpartition(v, 1)"),
    "base": Row("a.base", remark="call strided.shares_storage(x, y) to test whether arrays share memory"),
    "byteswap": Row(
        "i.byteswap()", remark="write np.asarray(x).byteswap(): arrays have the byte order of the machine"
    ),
    "choose": Row("(i % 2).choose([v, w])", "xp.where(i % 2 == 0, v, w)"),
    "compress": Row("v.compress(v > 1)", "v[v > 1]"),
    "ctypes": Row("a.ctypes", remark="write np.asarray(x).ctypes, which shares the memory"),
    "data": Row("a.data", "memoryview(a)"),
    "diagonal": Row("s.diagonal()", "xp.linalg.diagonal(s)"),
    "dot": Row("a.dot(v)", "a @ v"),
    "dump": Row("a.dump(file)", remark="write pickle.dump(x, file)"),
    "dumps": Row("a.dumps()", remark="write pickle.dumps(x)"),
    "fill": Row("v.fill(1.0)", remark="write x[...] = 1.0"),
    "flags": Row("a.flags", remark="call strided.is_contiguous(x) or strided.is_writable(x)"),
    "flat": Row("a.flat", "xp.reshape(a, (-1,))"),
    "getfield": Row("i.getfield('i4')", remark="write np.asarray(x).getfield(...), which shares the memory"),
    "partition": Row("v.partition(1)", remark="write partition(x, kth), which returns a new array"),
    "put": Row("v.put([0], 1.0)", remark="write x[i] = values"),
    "resize": Row("v.resize(8)", remark="write reshape(x, shape), which keeps the size"),
    "setfield": Row("v.setfield(1, 'i4')", remark="write x[...] = values"),
    "setflags": Row(
        "a.setflags(write=False)", remark="build it from read-only memory, which makes it read-only"
    ),
    "sort": Row("v.sort()", remark="write sort(x) for a new array, x[...] = sort(x) in place"),
    "strides": Row("tuple(k // 8 for k in a.strides)", "xp.strided.strides(a)", "counts elements, not bytes"),
    "swapaxes": Row("a.swapaxes(0, 1)", "xp.permute_dims(a, (1, 0))"),
    "tobytes": Row("a.tobytes()", "bytes(xp.strided.contiguous(a))"),
    "tofile": Row("a.tofile(file)", remark="write np.asarray(x).tofile(file), which shares the memory"),
    "tostring": Row("a.tobytes()", "bytes(xp.strided.contiguous(a))"),
    "trace": Row("s.trace()", "xp.linalg.trace(s)"),
    "ptp": Row("np.ptp(a)", "xp.max(a) - xp.min(a)"),
    "numpy": Row("np.asarray(a)", "np.asarray(a)", "it shares the memory"),
    "cpu": Row("np.asarray(a)", "xp.asarray(a)", "there is no other device"),
    "detach": Row("np.asarray(a)", "xp.autograd.stop_gradient(a)"),
    "backward": Row("loss.backward()", remark="call autograd.grad on a function, or use autograd.Tape"),
    "requires_grad_": Row(
        "x.requires_grad_()", remark="call autograd.grad on a function, or use autograd.Tape"
    ),
    "clone": Row("np.copy(a)", "xp.asarray(a, copy=True)"),
    "contiguous": Row("np.ascontiguousarray(a)", "xp.strided.contiguous(a)"),
    "dim": Row("a.ndim", "a.ndim"),
    "double": Row("i.astype('f8')", "xp.astype(i, xp.float64)"),
    "expand": Row("np.broadcast_to(v, (2, 4))", "xp.broadcast_to(v, (2, 4))"),
    "float": Row("i.astype('f4')", "xp.astype(i, xp.float32)"),
    "long": Row("v.astype('i8')", "xp.astype(v, xp.int64)"),
    "mm": Row("s @ s", "s @ s"),
    "newbyteorder": Row("i.newbyteorder()", remark="leave it out: arrays have the byte order of the machine"),
    "norm": Row("np.linalg.norm(v)", "xp.linalg.vector_norm(v)"),
    "t": Row("a.T", "a.T"),
    "to": Row("x.to(...)", remark="write astype(x, dtype), or x.to_device(device)"),
    "permute": Row("np.transpose(a, (1, 0))", "xp.permute_dims(a, (1, 0))"),
    "unsqueeze": Row("np.expand_dims(a, 0)", "xp.expand_dims(a, axis=0)"),
    "at": Row("x.at[key].add(v)", remark="write at(x)[key].add(v)"),
}


def advice(row: Row) -> str:
    """Return the text of a row for an error."""
    if not row.ours:
        return f"Instead of {row.theirs}: {row.remark}"
    call = row.ours.replace("xp.", "stride0.")
    return f"Instead of {row.theirs} write {call}" + (f"; {row.remark}" if row.remark else "")
