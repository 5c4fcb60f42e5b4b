"""Examples of functions that reduce, search, sort, count or select elements. See `__init__`."""

from typing import Final

TEXT: Final = """
=== reductions
--- all
>>> xp.all(xp.asarray([[True, False], [True, True]]), axis=1)
Array([False,  True], dtype=bool)
>>> xp.all(xp.zeros(0))
Array(True, dtype=bool)
--- any
>>> xp.any(xp.asarray([[0, 0], [0, 3]]), axis=0)
Array([False,  True], dtype=bool)
>>> if xp.any(xp.isnan(xp.asarray([1.0, xp.nan]))):
...     print("not a number")
not a number
--- count_nonzero
>>> x = xp.asarray([[0, 1, 2], [3, 0, 0]])
>>> xp.count_nonzero(x, axis=1)
Array([2, 1], dtype=int64)
>>> xp.count_nonzero(x > 1)
Array(2, dtype=int64)
--- max
>>> x = xp.asarray([[1.0, 5.0], [7.0, xp.nan]])
>>> xp.max(x, axis=1)
Array([ 5., nan], dtype=float64)
>>> xp.max(xp.zeros((0, 3)), axis=0)
Traceback (most recent call last):
    ...
stride0.ShapeError: max: axis 0 has no elements to choose from
...
--- min
>>> x = xp.asarray([[4.0, 2.0], [3.0, 9.0]])
>>> xp.min(x), xp.min(x, axis=0)
(Array(2., dtype=float64), Array([3., 2.], dtype=float64))
>>> x - xp.min(x, axis=1, keepdims=True)
Array([[2., 0.],
       [0., 6.]], dtype=float64)
--- mean
>>> x = xp.asarray([[1, 2], [3, 5]])
>>> xp.mean(x, axis=0)
Array([2. , 3.5], dtype=float64)
>>> xp.mean(xp.zeros(0))
Array(nan, dtype=float64)
--- prod
>>> xp.prod(xp.asarray([[1, 2], [3, 4]]), axis=0)
Array([3, 8], dtype=int64)
>>> xp.prod(xp.zeros(0))
Array(1., dtype=float64)
--- std
>>> x = xp.asarray([1.0, 3.0])
>>> xp.std(x), xp.std(x, correction=1)
(Array(1., dtype=float64), Array(1.41421356, dtype=float64))
--- sum
>>> x = xp.asarray([[1, 2, 3], [4, 5, 6]])
>>> xp.sum(x, axis=1), xp.sum(x, axis=(0, 1))
(Array([ 6, 15], dtype=int64), Array(21, dtype=int64))
>>> x / xp.sum(x, axis=1, keepdims=True)
Array([[0.16666667, 0.33333333, 0.5       ],
       [0.26666667, 0.33333333, 0.4       ]], dtype=float64)

Small integers are summed up in 64 bits:

>>> xp.sum(xp.asarray([200, 100], dtype=xp.uint8))
Array(300, dtype=uint64)
--- var
>>> x = xp.asarray([[1.0, 2.0, 4.0], [1.0, 1.0, 1.0]])
>>> xp.var(x, axis=1)
Array([1.55555556, 0.        ], dtype=float64)
>>> xp.var(xp.asarray([3.0]), correction=1)
Array(nan, dtype=float64)
--- cumulative_prod
>>> xp.cumulative_prod(xp.asarray([[1, 2, 3], [4, 5, 6]]), axis=1)
Array([[  1,   2,   6],
       [  4,  20, 120]], dtype=int64)
--- cumulative_sum
>>> x = xp.asarray([1, 2, 3])
>>> xp.cumulative_sum(x)
Array([1, 3, 6], dtype=int64)
>>> xp.cumulative_sum(x, include_initial=True)
Array([0, 1, 3, 6], dtype=int64)
--- diff
>>> x = xp.asarray([1, 4, 9, 16])
>>> xp.diff(x), xp.diff(x, n=2)
(Array([3, 5, 7], dtype=int64), Array([2, 2], dtype=int64))
>>> xp.diff(x, prepend=xp.asarray([0]))
Array([1, 3, 5, 7], dtype=int64)

=== reductions that leave out NaN
--- nanargmax
>>> x = xp.asarray([[1.0, xp.nan], [xp.nan, 3.0]])
>>> xp.nanargmax(x), xp.argmax(x)
(Array(3, dtype=int64), Array(1, dtype=int64))
>>> xp.nanargmax(x, axis=0)
Array([0, 1], dtype=int64)
--- nanargmin
>>> xp.nanargmin(xp.asarray([xp.nan, 2.0, 1.0]))
Array(2, dtype=int64)
>>> xp.nanargmin(xp.asarray([xp.nan]))
Traceback (most recent call last):
    ...
stride0.ArgumentValueError: nanargmin: a slice holds only NaN
...
--- nancumprod
>>> xp.nancumprod(xp.asarray([2.0, xp.nan, 3.0]))
Array([2., 2., 6.], dtype=float64)
--- nancumsum
>>> x = xp.asarray([[1.0, xp.nan], [2.0, 3.0]])
>>> xp.nancumsum(x)
Array([1., 1., 3., 6.], dtype=float64)
>>> xp.nancumsum(x, axis=0)
Array([[1., 0.],
       [3., 3.]], dtype=float64)
--- nanmax
>>> x = xp.asarray([[1.0, xp.nan], [xp.nan, xp.nan]])
>>> xp.nanmax(x), xp.max(x)
(Array(1., dtype=float64), Array(nan, dtype=float64))
>>> xp.nanmax(x, axis=1)
Array([ 1., nan], dtype=float64)
--- nanmean
>>> x = xp.asarray([[1.0, xp.nan], [3.0, 5.0]])
>>> xp.nanmean(x), xp.nanmean(x, axis=0)
(Array(3., dtype=float64), Array([2., 5.], dtype=float64))
--- nanmedian
>>> xp.nanmedian(xp.asarray([7.0, xp.nan, 1.0, 2.0]))
Array(2., dtype=float64)
--- nanmin
>>> xp.nanmin(xp.asarray([[4.0, xp.nan], [3.0, 5.0]]), axis=0)
Array([3., 5.], dtype=float64)
--- nanprod
>>> xp.nanprod(xp.asarray([2.0, xp.nan, 3.0])), xp.nanprod(xp.asarray([xp.nan]))
(Array(6., dtype=float64), Array(1., dtype=float64))
--- nanstd
>>> x = xp.asarray([1.0, xp.nan, 3.0])
>>> xp.nanstd(x), xp.nanstd(x, ddof=1)
(Array(1., dtype=float64), Array(1.41421356, dtype=float64))
--- nansum
>>> xp.nansum(xp.asarray([[1.0, xp.nan], [xp.nan, xp.nan]]), axis=1)
Array([1., 0.], dtype=float64)
--- nanvar
>>> x = xp.asarray([1.0, xp.nan, 3.0])
>>> xp.nanvar(x), xp.var(x)
(Array(1., dtype=float64), Array(nan, dtype=float64))

=== order
--- argmax
>>> x = xp.asarray([[1, 9, 3], [7, 2, 9]])
>>> xp.argmax(x, axis=1)
Array([1, 2], dtype=int64)
>>> xp.argmax(x)
Array(1, dtype=int64)
>>> xp.take_along_axis(x, xp.argmax(x, axis=1, keepdims=True), axis=1)
Array([[9],
       [9]], dtype=int64)
--- argmin
>>> xp.argmin(xp.asarray([3, 1, 1]))
Array(1, dtype=int64)
>>> xp.argmin(xp.asarray([3.0, xp.nan, 1.0]))
Array(1, dtype=int64)
--- argsort
>>> x = xp.asarray([3, 1, 2])
>>> order = xp.argsort(x)
>>> order, x[order]
(Array([1, 2, 0], dtype=int64), Array([1, 2, 3], dtype=int64))
>>> xp.argsort(xp.asarray([1, 0, 1]), descending=True)
Array([0, 2, 1], dtype=int64)
--- sort
>>> xp.sort(xp.asarray([[3, 1, 2], [9, 7, 8]]), axis=0, descending=True)
Array([[9, 7, 8],
       [3, 1, 2]], dtype=int64)
>>> xp.sort(xp.asarray([2.0, xp.nan, 1.0]))
Array([ 1.,  2., nan], dtype=float64)
--- searchsorted
>>> x = xp.asarray([10, 20, 20, 30])
>>> xp.searchsorted(x, xp.asarray([5, 20, 99]))
Array([0, 1, 4], dtype=int64)
>>> xp.searchsorted(x, 20, side="right")
Array(3, dtype=int64)
--- argpartition
>>> x = xp.asarray([7, 1, 5, 3])
>>> x[xp.argpartition(x, 1)][1]
Array(3, dtype=int64)
--- partition
>>> x = xp.partition(xp.asarray([7, 1, 5, 3, 9]), 2)
>>> x[2], xp.all(x[:2] <= x[2]), xp.all(x[3:] >= x[2])
(Array(5, dtype=int64), Array(True, dtype=bool), Array(True, dtype=bool))
--- top_k
>>> xp.top_k(xp.asarray([3, 9, 1, 9]), 2)
TopK(values=Array([9, 9], dtype=int64), indices=Array([1, 3], dtype=int64))
>>> xp.top_k(xp.asarray([[3, 9, 1], [4, 2, 8]]), 1, axis=1, mode="smallest").values
Array([[1],
       [2]], dtype=int64)
--- median
>>> x = xp.asarray([[1, 9, 2], [4, 4, 8]])
>>> xp.median(x), xp.median(x, axis=1)
(Array(4., dtype=float64), Array([2., 4.], dtype=float64))
--- percentile
>>> xp.percentile(xp.arange(11.0), xp.asarray([5, 50]))
Array([0.5, 5. ], dtype=float64)
--- quantile
>>> x = xp.asarray([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]])
>>> xp.quantile(x, [0.25, 0.5], axis=1)
Array([[1.75, 5.75],
       [2.5 , 6.5 ]], dtype=float64)
>>> xp.quantile(x, 0.4, method="nearest")
Array(4., dtype=float64)

=== counts and sets
--- bincount
>>> xp.bincount(xp.asarray([1, 3, 1]))
Array([0, 2, 0, 1], dtype=int64)
>>> xp.bincount(xp.asarray([1, 3, 1]), weights=xp.asarray([0.5, 2.0, 0.25]), minlength=5)
Array([0.  , 0.75, 0.  , 2.  , 0.  ], dtype=float64)
--- histogram
>>> counts, edges = xp.histogram(xp.asarray([1, 2, 2, 4]), bins=3)
>>> counts, edges
(Array([1, 2, 1], dtype=int64), Array([1., 2., 3., 4.], dtype=float64))
>>> xp.histogram(xp.asarray([0.5, 1.5, 9.0]), bins=[0, 1, 2])[0]
Array([1, 1], dtype=int64)
--- isin
>>> xp.isin(xp.asarray([[1, 2], [3, 4]]), xp.asarray([2, 4, 6]))
Array([[False,  True],
       [False,  True]], dtype=bool)
>>> xp.isin(xp.asarray([xp.nan]), xp.asarray([xp.nan]))
Array([False], dtype=bool)
--- unique_all
>>> found = xp.unique_all(xp.asarray([5, 1, 5]))
>>> found.values, found.indices
(Array([1, 5], dtype=int64), Array([1, 0], dtype=int64))
>>> found.inverse_indices, found.counts
(Array([1, 0, 1], dtype=int64), Array([1, 2], dtype=int64))
--- unique_counts
>>> values, counts = xp.unique_counts(xp.asarray([[5, 1], [5, 5]]))
>>> values, counts
(Array([1, 5], dtype=int64), Array([1, 3], dtype=int64))
>>> xp.unique_counts(xp.asarray([xp.nan, xp.nan])).counts
Array([1, 1], dtype=int64)
--- unique_inverse
>>> x = xp.asarray([[5, 1], [5, 3]])
>>> values, inverse = xp.unique_inverse(x)
>>> inverse
Array([[2, 0],
       [2, 1]], dtype=int64)
>>> xp.all(values[inverse] == x)
Array(True, dtype=bool)
--- unique_values
>>> xp.unique_values(xp.asarray([[3, 1], [3, 2]]))
Array([1, 2, 3], dtype=int64)
>>> xp.unique_values(xp.asarray([0.0, -0.0, xp.nan, xp.nan]))
Array([ 0., nan, nan], dtype=float64)

=== indices
--- nonzero
>>> x = xp.asarray([[0, 7], [8, 0]])
>>> rows, columns = xp.nonzero(x)
>>> rows, columns
(Array([0, 1], dtype=int64), Array([1, 0], dtype=int64))
>>> x[rows, columns]
Array([7, 8], dtype=int64)
--- take
>>> x = xp.asarray([[1, 2, 3], [4, 5, 6]])
>>> xp.take(x, xp.asarray([2, 0, -1]), axis=1)
Array([[3, 1, 3],
       [6, 4, 6]], dtype=int64)
>>> xp.take(x, xp.asarray([2]), axis=0)
Traceback (most recent call last):
    ...
stride0.OutOfBoundsError: index: 2 is out of bounds for axis 0 with size 2
...
--- take_along_axis
>>> x = xp.asarray([[30, 10, 20], [5, 4, 6]])
>>> xp.take_along_axis(x, xp.argsort(x, axis=1), axis=1)
Array([[10, 20, 30],
       [ 4,  5,  6]], dtype=int64)
--- put_along_axis
>>> x = xp.asarray([[30, 10, 20], [5, 4, 6]])
>>> xp.put_along_axis(x, xp.argmax(x, axis=1, keepdims=True), 0, axis=1)
>>> x
Array([[ 0, 10, 20],
       [ 5,  4,  0]], dtype=int64)
--- at
>>> x = xp.zeros(3)
>>> xp.at(x)[xp.asarray([0, 2, 2])].add(1.0)
Array([1., 0., 2.], dtype=float64)
>>> xp.at(x)[1:].set(xp.asarray([5.0, 6.0]))
Array([0., 5., 6.], dtype=float64)
>>> x
Array([0., 0., 0.], dtype=float64)

=== comparing and cleaning
--- allclose
>>> xp.allclose(xp.asarray([1.0, 2.0]), xp.asarray([1.0, 2.0 + 1e-9]))
True
>>> xp.allclose(xp.asarray([xp.nan]), xp.asarray([xp.nan]), equal_nan=True)
True
--- isclose
>>> xp.isclose(xp.asarray([1.0, 1.0, xp.inf]), xp.asarray([1.0 + 1e-9, 1.1, xp.inf]))
Array([ True, False,  True], dtype=bool)
>>> xp.isclose(xp.asarray(1e-10), 0.0), xp.isclose(xp.asarray(1e-10), 0.0, atol=0)
(Array(True, dtype=bool), Array(False, dtype=bool))
--- nan_to_num
>>> xp.nan_to_num(xp.asarray([xp.nan, xp.inf, 1.0]), nan=-1.0, posinf=99.0)
Array([-1., 99.,  1.], dtype=float64)
>>> xp.nan_to_num(xp.asarray([-xp.inf], dtype=xp.float32))
Array([-3.4028235e+38], dtype=float32)
--- corrcoef
>>> x = xp.asarray([[1.0, 2.0, 3.0], [6.0, 4.0, 2.0]])
>>> xp.round(xp.corrcoef(x))
Array([[ 1., -1.],
       [-1.,  1.]], dtype=float64)
--- cov
>>> xp.cov(xp.asarray([[1.0, 2.0, 3.0], [6.0, 4.0, 2.0]]))
Array([[ 1., -2.],
       [-2.,  4.]], dtype=float64)
>>> xp.cov(xp.asarray([1.0, 2.0, 3.0, 4.0]), bias=True)
Array(1.25, dtype=float64)
--- kron
>>> xp.kron(xp.asarray([1, 10]), xp.asarray([1, 2, 3]))
Array([ 1,  2,  3, 10, 20, 30], dtype=int64)
>>> xp.kron(xp.eye(2, dtype=xp.int64), xp.asarray([[1, 2]]))
Array([[1, 2, 0, 0],
       [0, 0, 1, 2]], dtype=int64)
--- interp
>>> xp.interp(xp.asarray([0.5, 2.5, 9.0]), xp.asarray([0.0, 1.0, 3.0]), xp.asarray([0.0, 10.0, 20.0]))
Array([ 5. , 17.5, 20. ], dtype=float64)
>>> xp.interp(9.0, xp.asarray([0.0, 1.0]), xp.asarray([0.0, 10.0]), right=-1.0)
Array(-1., dtype=float64)
"""

EXAMPLES: Final = dict(
    entry.split("\n", 1) for group in TEXT.split("\n=== ") for entry in group.split("\n--- ")[1:]
)
