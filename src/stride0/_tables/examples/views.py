"""Examples of methods of arrays, of `strided` and of functions that explain or draw. See `__init__`."""

from typing import Final

TEXT: Final = """
--- Array.conj
>>> x = xp.asarray([1.0, 2.0])
>>> x.conj() is x
True
>>> xp.asarray([1 + 2j]).conj()
Array([1.-2.j], dtype=complex128)
--- Array.conjugate
>>> xp.asarray([1 + 2j]).conjugate()
Array([1.-2.j], dtype=complex128)
--- Array.copy
>>> x = xp.ones((2, 3)).T
>>> y = x.copy()
>>> xp.strided.shares_storage(x, y), xp.strided.strides(y)
(False, (1, 3))
--- Array.cumprod
>>> x = xp.asarray([[1, 2], [3, 4]])
>>> x.cumprod()
Array([ 1,  2,  6, 24], dtype=int64)
>>> x.cumprod(axis=0)
Array([[1, 2],
       [3, 8]], dtype=int64)
--- Array.cumsum
>>> x = xp.asarray([[1, 2], [3, 4]])
>>> x.cumsum()
Array([ 1,  3,  6, 10], dtype=int64)
>>> x.cumsum(axis=0)
Array([[1, 2],
       [4, 6]], dtype=int64)
--- Array.flatten
>>> x = xp.asarray([[1, 2], [3, 4]])
>>> y = x.flatten()
>>> y, xp.strided.shares_storage(x, y)
(Array([1, 2, 3, 4], dtype=int64), False)
--- Array.item
>>> x = xp.asarray([[1, 2], [3, 4]])
>>> x.item(1, 0), x.item(-1)
(3, 4)
>>> x.item()
Traceback (most recent call last):
    ...
stride0.ShapeError: item: an array of 4 elements needs an index
...
--- Array.permute_dims
>>> x = xp.ones((2, 3, 4))
>>> x.permute_dims(2, 0, 1).shape, x.permute_dims((2, 0, 1)).shape
((4, 2, 3), (4, 2, 3))
--- Array.ravel
>>> x = xp.asarray([[1, 2], [3, 4]])
>>> xp.strided.shares_storage(x, x.ravel()), xp.strided.shares_storage(x, x.T.ravel())
(True, False)
>>> x.T.ravel()
Array([1, 3, 2, 4], dtype=int64)
--- Array.reshape
>>> x = xp.arange(6)
>>> x.reshape(2, -1)
Array([[0, 1, 2],
       [3, 4, 5]], dtype=int64)
>>> x.reshape((3, 2)).shape
(3, 2)
--- Array.squeeze
>>> x = xp.ones((1, 3, 1))
>>> x.squeeze().shape, x.squeeze(0).shape
((3,), (3, 1))
--- Array.tolist
>>> xp.asarray([[1, 2], [3, 4]]).tolist()
[[1, 2], [3, 4]]
>>> xp.asarray(1.5).tolist()
1.5
--- Array.transpose
>>> x = xp.ones((2, 3, 4))
>>> x.transpose().shape, x.transpose(0, 2, 1).shape
((4, 3, 2), (2, 4, 3))
--- Array.view
>>> x = xp.asarray([1.0, -2.0], dtype=xp.float32)
>>> x.view(xp.uint32)
Array([1065353216, 3221225472], dtype=uint32)
>>> x.view(xp.int8).shape
(8,)
--- strided.as_strided
>>> x = xp.arange(5)
>>> windows = xp.strided.as_strided(x, (3, 3), (1, 1))
>>> windows
Array([[0, 1, 2],
       [1, 2, 3],
       [2, 3, 4]], dtype=int64)
>>> xp.strided.is_writable(windows)
False
>>> xp.strided.as_strided(x, (6,), (1,))
Traceback (most recent call last):
    ...
stride0.OutOfBoundsError: as_strided: the view would reach from element 0 to element 5 of the storage
...
--- strided.contiguous
>>> x = xp.ones((2, 3))
>>> xp.strided.contiguous(x) is x
True
>>> xp.strided.strides(x.T), xp.strided.strides(xp.strided.contiguous(x.T))
((1, 3), (2, 1))
--- strided.is_contiguous
>>> x = xp.ones((2, 3))
>>> xp.strided.is_contiguous(x), xp.strided.is_contiguous(x.T), xp.strided.is_contiguous(x[:1, 1:])
(True, False, True)
--- strided.is_writable
>>> x = xp.ones(3)
>>> xp.strided.is_writable(x), xp.strided.is_writable(xp.broadcast_to(x, (2, 3)))
(True, False)
>>> xp.strided.is_writable(xp.asarray(memoryview(b"bytes")))
False
--- strided.offset
>>> x = xp.reshape(xp.arange(6), (2, 3))
>>> xp.strided.offset(x[1:, ::-1])
5
--- strided.shares_storage
>>> x = xp.arange(6)
>>> xp.strided.shares_storage(x[:3], x[3:]), xp.strided.shares_storage(x, x + 0)
(True, False)
--- strided.storage_nbytes
>>> x = xp.ones(1000)
>>> xp.strided.storage_nbytes(x[:2]), x[:2].nbytes
(8000, 16)
>>> xp.strided.storage_nbytes(xp.broadcast_to(xp.ones(1), (1000,)))
8
--- strided.strides
>>> x = xp.ones((2, 3))
>>> xp.strided.strides(x), xp.strided.strides(x.T), xp.strided.strides(x[:, ::-2])
((3, 1), (1, 3), (3, -2))
>>> xp.strided.strides(xp.broadcast_to(x, (5, 2, 3)))
(0, 3, 1)
--- explain
>>> xp.explain("ij,jk->ik", (2, 3), (3, 4))
einsum: "ij,jk->ik"
<BLANKLINE>
    label                    i   k   j
    size                     2   4   3
    strides of operands[0]   3   0   1
    strides of operands[1]   0   1   4
    strides of the result    4   1   0
<BLANKLINE>
    Stride 0 on an operand repeats its elements.
    Stride 0 on the result sums up: along j.
    result = operands[0] times operands[1]: ij,jk->ik, 24 elements of the space
>>> xp.explain((5, 6), (10,))
broadcast: operands could not be broadcast together at axis -1
<BLANKLINE>
    x1   (5,  6)
    x2      (10,)
              ^
    axis -1 has size 6 in x1 and 10 in x2; sizes must be equal, or one of them 1.
<BLANKLINE>
one inserted axis makes them fit
<BLANKLINE>
    x1[:, :, None]   gives (5, 6, 10)
--- random.default_rng
>>> rng = xp.random.default_rng(1)
>>> rng.normal(size=(2, 3)).shape
(2, 3)
>>> xp.all(xp.random.default_rng(7).random(3) == xp.asarray(np.random.default_rng(7).random(3)))
Array(True, dtype=bool)
"""

EXAMPLES: Final = dict(entry.split("\n", 1) for entry in TEXT.split("\n--- ")[1:])
