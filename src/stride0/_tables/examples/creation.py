"""Examples of functions that make arrays, give them other shapes or tell their dtypes. See `__init__`."""

from typing import Final

TEXT: Final = """
=== creation
--- arange
>>> xp.arange(2, 10, 3)
Array([2, 5, 8], dtype=int64)
>>> xp.arange(3.0)
Array([0., 1., 2.], dtype=float64)
>>> xp.arange(5, 0, -2)
Array([5, 3, 1], dtype=int64)
--- empty
>>> x = xp.empty((2, 3), dtype=xp.int32)
>>> x[...] = 7
>>> x
Array([[7, 7, 7],
       [7, 7, 7]], dtype=int32)
--- empty_like
>>> x = xp.empty_like(xp.ones((2, 3), dtype=xp.float32))
>>> x.shape, x.dtype
((2, 3), stride0.float32)
--- eye
>>> xp.eye(2, 3)
Array([[1., 0., 0.],
       [0., 1., 0.]], dtype=float64)
>>> xp.eye(3, k=-1, dtype=xp.int8)
Array([[0, 0, 0],
       [1, 0, 0],
       [0, 1, 0]], dtype=int8)
--- full
>>> xp.full((2, 2), 7)
Array([[7, 7],
       [7, 7]], dtype=int64)
>>> xp.full(2, True).dtype, xp.full(2, 1j).dtype
(stride0.bool, stride0.complex128)
>>> xp.full(2, 300, dtype=xp.uint8)
Traceback (most recent call last):
    ...
stride0.RangeError: full: Python integer 300 is out of bounds for uint8
...
--- full_like
>>> xp.full_like(xp.ones((2, 2), dtype=xp.float32), 0.5)
Array([[0.5, 0.5],
       [0.5, 0.5]], dtype=float32)
>>> xp.full_like(xp.asarray([1, 2]), 1j)
Traceback (most recent call last):
    ...
stride0.CastError: full_like: cannot cast a complex number to int64
...
--- linspace
>>> xp.linspace(0, 1, 5)
Array([0.  , 0.25, 0.5 , 0.75, 1.  ], dtype=float64)
>>> xp.linspace(0, 1, 5, endpoint=False)
Array([0. , 0.2, 0.4, 0.6, 0.8], dtype=float64)
--- logspace
>>> xp.logspace(0, 3, 4)
Array([   1.,   10.,  100., 1000.], dtype=float64)
>>> xp.logspace(0, 3, 4, base=2)
Array([1., 2., 4., 8.], dtype=float64)
--- meshgrid
>>> x, y = xp.meshgrid(xp.asarray([1, 2, 3]), xp.asarray([10, 20]))
>>> x
Array([[1, 2, 3],
       [1, 2, 3]], dtype=int64)
>>> y
Array([[10, 10, 10],
       [20, 20, 20]], dtype=int64)

Broadcasting needs no copies of the coordinates:

>>> xp.asarray([1, 2, 3]) + xp.asarray([[10], [20]])
Array([[11, 12, 13],
       [21, 22, 23]], dtype=int64)
--- ones
>>> xp.ones((2, 3))
Array([[1., 1., 1.],
       [1., 1., 1.]], dtype=float64)
>>> xp.ones(2, dtype=xp.int8)
Array([1, 1], dtype=int8)
--- ones_like
>>> xp.ones_like(xp.asarray([[1, 2], [3, 4]]))
Array([[1, 1],
       [1, 1]], dtype=int64)
>>> xp.ones_like(xp.asarray([1, 2]), dtype=xp.float32)
Array([1., 1.], dtype=float32)
--- tril
>>> x = xp.reshape(xp.arange(1, 10), (3, 3))
>>> xp.tril(x)
Array([[1, 0, 0],
       [4, 5, 0],
       [7, 8, 9]], dtype=int64)
>>> xp.tril(x, k=-1)
Array([[0, 0, 0],
       [4, 0, 0],
       [7, 8, 0]], dtype=int64)
--- triu
>>> x = xp.reshape(xp.arange(1, 10), (3, 3))
>>> xp.triu(x, k=1)
Array([[0, 2, 3],
       [0, 0, 6],
       [0, 0, 0]], dtype=int64)
--- zeros
>>> xp.zeros((2, 2), dtype=xp.complex64)
Array([[0.+0.j, 0.+0.j],
       [0.+0.j, 0.+0.j]], dtype=complex64)
>>> float(xp.zeros(()))
0.0
--- zeros_like
>>> xp.zeros_like(xp.asarray([[True, False]]))
Array([[False, False]], dtype=bool)
>>> xp.zeros_like(xp.ones((2, 3)), shape=(2,))
Array([0., 0.], dtype=float64)
--- diag
>>> x = xp.reshape(xp.arange(4), (2, 2))
>>> xp.diag(x), xp.strided.shares_storage(xp.diag(x), x)
(Array([0, 3], dtype=int64), True)
>>> xp.diag(xp.asarray([1, 2]), k=1)
Array([[0, 1, 0],
       [0, 0, 2],
       [0, 0, 0]], dtype=int64)
--- pad
>>> xp.pad(xp.asarray([1, 2]), (1, 2))
Array([0, 1, 2, 0, 0], dtype=int64)
>>> xp.pad(xp.asarray([[1, 2]]), ((1, 0), (0, 1)), constant_values=9)
Array([[9, 9, 9],
       [1, 2, 9]], dtype=int64)

=== dtypes
--- astype
>>> xp.astype(xp.asarray([1.9, -1.9]), xp.int64)
Array([ 1, -1], dtype=int64)
>>> xp.astype(xp.asarray([0, 2]), xp.bool)
Array([False,  True], dtype=bool)
>>> xp.astype(xp.asarray([300, -1]), xp.uint8)
Array([ 44, 255], dtype=uint8)
>>> xp.astype(xp.asarray([1j]), xp.float64)
Traceback (most recent call last):
    ...
stride0.CastError: astype: cannot cast complex complex128 to real float64
...
--- can_cast
>>> xp.can_cast(xp.int32, xp.int64), xp.can_cast(xp.int64, xp.int32)
(True, False)
>>> xp.can_cast(xp.uint64, xp.int64), xp.can_cast(xp.int8, xp.float32)
(False, True)
--- finfo
>>> xp.finfo(xp.float32).eps
1.1920928955078125e-07
>>> xp.finfo(xp.complex128).dtype
stride0.float64
--- iinfo
>>> xp.iinfo(xp.uint8).max, xp.iinfo(xp.int64).min
(255, -9223372036854775808)
--- isdtype
>>> xp.isdtype(xp.float32, "real floating"), xp.isdtype(xp.float32, "integral")
(True, False)
>>> xp.isdtype(xp.int8, ("bool", "signed integer"))
True
--- result_type
>>> xp.result_type(xp.int8, xp.uint8), xp.result_type(xp.int64, xp.float32)
(stride0.int16, stride0.float64)

Only the kind of a Python scalar counts:

>>> xp.result_type(xp.float32, 1.5), xp.result_type(xp.int8, 1.5)
(stride0.float32, stride0.float64)
--- __array_namespace_info__
>>> info = xp.__array_namespace_info__()
>>> info.devices()
(Device('cpu'),)
>>> info.dtypes(kind="signed integer")
{'int8': stride0.int8, 'int16': stride0.int16, 'int32': stride0.int32, 'int64': stride0.int64}
>>> info.capabilities()["max dimensions"]
64

=== manipulation
--- broadcast_arrays
>>> x, y = xp.broadcast_arrays(xp.asarray([1, 2, 3]), xp.asarray([[10], [20]]))
>>> x.shape, y.shape
((2, 3), (2, 3))
>>> xp.strided.strides(x), xp.strided.strides(y)
((0, 1), (1, 0))
--- broadcast_shapes
>>> xp.broadcast_shapes((3, 1), (4,), (2, 1, 1))
(2, 3, 4)
>>> xp.broadcast_shapes((3,), (4,))
Traceback (most recent call last):
    ...
stride0.BroadcastError: broadcast_shapes: operands could not be broadcast together at axis -1
...
--- broadcast_to
>>> x = xp.broadcast_to(xp.asarray([1, 2, 3]), (2, 3))
>>> x
Array([[1, 2, 3],
       [1, 2, 3]], dtype=int64)
>>> xp.strided.strides(x), xp.strided.is_writable(x)
((0, 1), False)
--- concat
>>> x, y = xp.ones((2, 2)), xp.zeros((2, 1))
>>> xp.concat([x, y], axis=1)
Array([[1., 1., 0.],
       [1., 1., 0.]], dtype=float64)
>>> xp.concat([x, y], axis=None).shape
(6,)
>>> xp.concat([x, y])
Traceback (most recent call last):
    ...
stride0.ShapeError: concat: arrays[1] does not fit arrays[0]
...
--- expand_dims
>>> x = xp.ones((2, 3))
>>> xp.expand_dims(x, axis=1).shape, xp.expand_dims(x, axis=(0, -1)).shape
((2, 1, 3), (1, 2, 3, 1))
>>> x - xp.expand_dims(xp.mean(x, axis=1), axis=1)
Array([[0., 0., 0.],
       [0., 0., 0.]], dtype=float64)
--- flip
>>> x = xp.asarray([[1, 2, 3], [4, 5, 6]])
>>> xp.flip(x, axis=1)
Array([[3, 2, 1],
       [6, 5, 4]], dtype=int64)
>>> xp.strided.strides(xp.flip(x))
(-3, -1)
--- moveaxis
>>> x = xp.ones((2, 3, 4))
>>> xp.moveaxis(x, 0, -1).shape, xp.moveaxis(x, (0, 1), (1, 2)).shape
((3, 4, 2), (4, 2, 3))
--- permute_dims
>>> x = xp.ones((2, 3, 4))
>>> y = xp.permute_dims(x, (2, 0, 1))
>>> y.shape, xp.strided.strides(y)
((4, 2, 3), (1, 12, 4))
--- repeat
>>> x = xp.asarray([[1, 2], [3, 4]])
>>> xp.repeat(x, 2)
Array([1, 1, 2, 2, 3, 3, 4, 4], dtype=int64)
>>> xp.repeat(x, xp.asarray([1, 2]), axis=0)
Array([[1, 2],
       [3, 4],
       [3, 4]], dtype=int64)
--- reshape
>>> x = xp.arange(6)
>>> y = xp.reshape(x, (2, -1))
>>> y
Array([[0, 1, 2],
       [3, 4, 5]], dtype=int64)
>>> xp.strided.shares_storage(x, y)
True
>>> xp.reshape(y.T, (6,), copy=False)
Traceback (most recent call last):
    ...
stride0.ShapeError: reshape: a view is not possible, and copy=False forbids a copy
...
--- roll
>>> xp.roll(xp.asarray([1, 2, 3, 4]), 1)
Array([4, 1, 2, 3], dtype=int64)
>>> xp.roll(xp.asarray([[1, 2], [3, 4], [5, 6]]), -1, axis=0)
Array([[3, 4],
       [5, 6],
       [1, 2]], dtype=int64)
--- squeeze
>>> x = xp.ones((1, 3, 1))
>>> xp.squeeze(x, axis=(0, 2)).shape
(3,)
>>> xp.squeeze(x, axis=1)
Traceback (most recent call last):
    ...
stride0.ShapeError: squeeze: axis 1 has size 3, not 1
...
--- stack
>>> x, y = xp.asarray([1, 2]), xp.asarray([3.0, 4.0])
>>> xp.stack([x, y])
Array([[1., 2.],
       [3., 4.]], dtype=float64)
>>> xp.stack([x, y], axis=1)
Array([[1., 3.],
       [2., 4.]], dtype=float64)
--- tile
>>> xp.tile(xp.asarray([1, 2]), (2, 2))
Array([[1, 2, 1, 2],
       [1, 2, 1, 2]], dtype=int64)
--- unstack
>>> x = xp.asarray([[1, 2], [3, 4]])
>>> left, right = xp.unstack(x, axis=1)
>>> right
Array([2, 4], dtype=int64)
>>> right[0] = 20
>>> x
Array([[ 1, 20],
       [ 3,  4]], dtype=int64)
"""

EXAMPLES: Final = dict(
    entry.split("\n", 1) for group in TEXT.split("\n=== ") for entry in group.split("\n--- ")[1:]
)
