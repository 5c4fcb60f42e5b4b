"""Examples of the elementwise functions, which the build writes into their docstrings. See `__init__`."""

from typing import Final

TEXT: Final = """
=== arithmetic
--- add
>>> xp.add(xp.asarray([[0.0], [10.0]]), xp.asarray([1.0, 2.0, 3.0]))
Array([[ 1.,  2.,  3.],
       [11., 12., 13.]], dtype=float64)

With `alpha`, the second operand is multiplied first:

>>> xp.add(xp.asarray([1.0, 2.0]), xp.asarray([3.0, 4.0]), alpha=0.5)
Array([2.5, 4. ], dtype=float64)
--- subtract
>>> xp.subtract(xp.asarray([5, 5], dtype=xp.uint8), xp.asarray([3, 6], dtype=xp.uint8))
Array([  2, 255], dtype=uint8)
>>> xp.asarray([True]) - xp.asarray([False])
Traceback (most recent call last):
    ...
stride0.DTypeError: subtract: Unsupported dtype bool
...
--- multiply
>>> xp.multiply(xp.asarray([[1], [10]]), xp.asarray([1, 2, 3]))
Array([[ 1,  2,  3],
       [10, 20, 30]], dtype=int64)

Python scalars do not promote the dtype; integers wrap around:

>>> xp.multiply(xp.asarray([100, 3], dtype=xp.int8), 2)
Array([-56,   6], dtype=int8)
--- divide
>>> xp.divide(xp.asarray([1, 0, -1]), xp.asarray([2, 0, 0]))
Array([ 0.5,  nan, -inf], dtype=float64)
--- floor_divide
>>> xp.floor_divide(xp.asarray([7, -7, 7]), xp.asarray([2, 2, 0]))
Array([ 3, -4,  0], dtype=int64)
>>> xp.floor_divide(xp.asarray([7.0, -7.0, 7.0]), xp.asarray([2.0, 2.0, 0.0]))
Array([ 3., -4., inf], dtype=float64)
--- remainder
>>> xp.remainder(xp.asarray([7, -7]), 3)
Array([1, 2], dtype=int64)
>>> xp.remainder(xp.asarray([7, -7]), -3)
Array([-2, -1], dtype=int64)
--- pow
>>> xp.pow(xp.asarray([2.0, 0.0, -8.0]), xp.asarray([-1.0, 0.0, 1 / 3]))
Array([0.5, 1. , nan], dtype=float64)
>>> xp.pow(xp.asarray([1, 2, 3]), -1)
Traceback (most recent call last):
    ...
stride0.ArgumentValueError: pow: integers cannot be raised to negative integer powers
...
--- negative
>>> xp.negative(xp.asarray([1.0, 0.0, -2.0]))
Array([-1., -0.,  2.], dtype=float64)
>>> -xp.asarray([1, 2], dtype=xp.uint8)
Array([255, 254], dtype=uint8)
--- positive
>>> x = xp.asarray([1.0, -2.0])
>>> +x
Array([ 1., -2.], dtype=float64)
>>> xp.strided.shares_storage(x, +x)
False
--- abs
>>> xp.abs(xp.asarray([3 + 4j, -2]))
Array([5., 2.], dtype=float64)
>>> xp.abs(xp.asarray([-128, -127], dtype=xp.int8))
Array([-128,  127], dtype=int8)
--- sign
>>> xp.sign(xp.asarray([-2.5, 0.0, xp.nan]))
Array([-1.,  0., nan], dtype=float64)
>>> xp.sign(xp.asarray([3 + 4j, 0]))
Array([0.6+0.8j, 0. +0.j ], dtype=complex128)
--- reciprocal
>>> xp.reciprocal(xp.asarray([4.0, 0.0, -xp.inf]))
Array([ 0.25,   inf, -0.  ], dtype=float64)
>>> xp.reciprocal(xp.asarray([4]))
Array([0.25], dtype=float64)
--- square
>>> xp.square(xp.asarray([3 + 4j]))
Array([-7.+24.j], dtype=complex128)
--- sqrt
>>> xp.sqrt(xp.asarray([4.0, -1.0]))
Array([ 2., nan], dtype=float64)
>>> xp.sqrt(xp.asarray([-1 + 0j]))
Array([0.+1.j], dtype=complex128)
>>> xp.sqrt(xp.asarray([4, 9]))
Array([2., 3.], dtype=float64)
--- hypot
>>> xp.hypot(xp.asarray([3.0, 3e200]), xp.asarray([4.0, 4e200]))
Array([5.e+000, 5.e+200], dtype=float64)
--- maximum
>>> xp.maximum(xp.asarray([[1.0], [5.0]]), xp.asarray([2.0, 4.0, xp.nan]))
Array([[ 2.,  4., nan],
       [ 5.,  5., nan]], dtype=float64)
>>> xp.maximum(xp.asarray([-1, 3]), 0)
Array([0, 3], dtype=int64)
--- minimum
>>> xp.minimum(xp.asarray([[1.0], [5.0]]), xp.asarray([2.0, 4.0, xp.nan]))
Array([[ 1.,  1., nan],
       [ 2.,  4., nan]], dtype=float64)
>>> xp.minimum(xp.asarray([200, 300]), 255)
Array([200, 255], dtype=int64)

=== rounding
--- ceil
>>> xp.ceil(xp.asarray([1.2, -1.2, -0.2]))
Array([ 2., -1., -0.], dtype=float64)
>>> xp.ceil(xp.asarray([1, 2]))
Array([1, 2], dtype=int64)
--- floor
>>> xp.floor(xp.asarray([1.8, -1.2]))
Array([ 1., -2.], dtype=float64)
--- trunc
>>> xp.trunc(xp.asarray([1.8, -1.8]))
Array([ 1., -1.], dtype=float64)
--- round
>>> xp.round(xp.asarray([0.5, 1.5, 2.5, -0.4]))
Array([ 0.,  2.,  2., -0.], dtype=float64)

As a method it takes a number of decimals, like the method of NumPy arrays:

>>> xp.asarray([3.14159]).round(2)
Array([3.14], dtype=float64)

=== comparisons
--- equal
>>> xp.equal(xp.asarray([1, 2, 3]), xp.asarray([1.0, 2.5, 3.0]))
Array([ True, False,  True], dtype=bool)
>>> x = xp.asarray([xp.nan, 0.0])
>>> x == -x
Array([False,  True], dtype=bool)
--- not_equal
>>> x = xp.asarray([1.0, xp.nan])
>>> xp.not_equal(x, x)
Array([False,  True], dtype=bool)
--- less
>>> xp.less(xp.asarray([[1], [3]]), xp.asarray([2, 3, 4]))
Array([[ True,  True,  True],
       [False, False,  True]], dtype=bool)
--- less_equal
>>> xp.less_equal(xp.asarray([[1], [3]]), xp.asarray([2, 3, 4]))
Array([[ True,  True,  True],
       [False,  True,  True]], dtype=bool)
--- greater
>>> x = xp.asarray([3, 1, 4, 1, 5])
>>> x[xp.greater(x, 2)]
Array([3, 4, 5], dtype=int64)
>>> xp.asarray([1j]) > 0
Traceback (most recent call last):
    ...
stride0.DTypeError: greater: Unsupported dtype complex128
...
--- greater_equal
>>> xp.greater_equal(xp.asarray([0.0, xp.nan]), -0.0)
Array([ True, False], dtype=bool)
--- isfinite
>>> xp.isfinite(xp.asarray([1.0, xp.inf, xp.nan]))
Array([ True, False, False], dtype=bool)
>>> xp.isfinite(xp.asarray([1, 2]))
Array([ True,  True], dtype=bool)
--- isinf
>>> xp.isinf(xp.asarray([-xp.inf, xp.nan, 1.0]))
Array([ True, False, False], dtype=bool)
>>> xp.isinf(xp.asarray([complex(xp.nan, xp.inf)]))
Array([ True], dtype=bool)
--- isnan
>>> x = xp.asarray([1.0, xp.nan, 3.0])
>>> x[~xp.isnan(x)]
Array([1., 3.], dtype=float64)
--- signbit
>>> xp.signbit(xp.asarray([-1.0, -0.0, 0.0]))
Array([ True,  True, False], dtype=bool)

=== logic and bits
--- logical_and
>>> xp.logical_and(xp.asarray([[True], [False]]), xp.asarray([True, False]))
Array([[ True, False],
       [False, False]], dtype=bool)
>>> xp.logical_and(xp.asarray([1, 2]), xp.asarray([True, False]))
Array([ True, False], dtype=bool)
--- logical_or
>>> xp.logical_or(xp.asarray([True, False, False]), xp.asarray([True, True, False]))
Array([ True,  True, False], dtype=bool)
--- logical_xor
>>> xp.logical_xor(xp.asarray([True, False, False]), xp.asarray([True, True, False]))
Array([False,  True, False], dtype=bool)
--- logical_not
>>> xp.logical_not(xp.asarray([True, False]))
Array([False,  True], dtype=bool)
>>> xp.logical_not(xp.asarray([0.0, 2.0, xp.nan]))
Array([ True, False, False], dtype=bool)
--- bitwise_and
>>> xp.bitwise_and(xp.asarray([0b1100, 0b1010]), 0b1000)
Array([8, 8], dtype=int64)

Masks are combined by it, with parentheses around the comparisons:

>>> x = xp.asarray([1, 5, 9])
>>> (x > 2) & (x < 8)
Array([False,  True, False], dtype=bool)
--- bitwise_or
>>> xp.bitwise_or(xp.asarray([0b1100, 0b1010]), 0b0011)
Array([15, 11], dtype=int64)
>>> x = xp.asarray([1, 5, 9])
>>> (x < 2) | (x > 8)
Array([ True, False,  True], dtype=bool)
--- bitwise_xor
>>> xp.bitwise_xor(xp.asarray([0b1100, 0b1010]), 0b1111)
Array([3, 5], dtype=int64)
--- bitwise_invert
>>> xp.bitwise_invert(xp.asarray([0, 1], dtype=xp.int8))
Array([-1, -2], dtype=int8)
>>> xp.bitwise_invert(xp.asarray([0, 1], dtype=xp.uint8))
Array([255, 254], dtype=uint8)
>>> ~xp.asarray([True, False])
Array([False,  True], dtype=bool)
--- bitwise_left_shift
>>> xp.bitwise_left_shift(xp.asarray([1, 1, 1], dtype=xp.uint8), xp.asarray([3, 7, 8], dtype=xp.uint8))
Array([  8, 128,   0], dtype=uint8)
--- bitwise_right_shift
>>> xp.bitwise_right_shift(xp.asarray([16, -16, -1]), 2)
Array([ 4, -4, -1], dtype=int64)

=== floats and complex numbers
--- conj
>>> xp.conj(xp.asarray([1 + 2j, 3]))
Array([1.-2.j, 3.-0.j], dtype=complex128)
--- copysign
>>> xp.copysign(xp.asarray([1.0, -2.0, 3.0]), xp.asarray([-1.0, 1.0, -0.0]))
Array([-1.,  2., -3.], dtype=float64)
--- nextafter
>>> xp.nextafter(xp.asarray([1.0, 0.0]), 2.0)
Array([1.e+000, 5.e-324], dtype=float64)
>>> xp.nextafter(xp.asarray(1.0), 2.0) - 1 == xp.finfo(xp.float64).eps
Array(True, dtype=bool)

=== exponential functions and logarithms
--- exp
>>> xp.exp(xp.asarray([0.0, 1.0, 1000.0, -xp.inf]))
Array([1.        , 2.71828183,        inf, 0.        ], dtype=float64)
>>> xp.exp(xp.asarray([0, 1]))
Array([1.        , 2.71828183], dtype=float64)
--- expm1
>>> x = xp.asarray([1e-20, 1.0])
>>> xp.expm1(x)
Array([1.00000000e-20, 1.71828183e+00], dtype=float64)
>>> xp.exp(x) - 1
Array([0.        , 1.71828183], dtype=float64)
--- log
>>> xp.log(xp.asarray([1.0, xp.e, 0.0, -1.0]))
Array([  0.,   1., -inf,  nan], dtype=float64)
>>> xp.log(xp.asarray([-1 + 0j]))
Array([0.+3.14159265j], dtype=complex128)
--- log1p
>>> x = xp.asarray([1e-20, 1.0])
>>> xp.log1p(x)
Array([1.00000000e-20, 6.93147181e-01], dtype=float64)
>>> xp.log(1 + x)
Array([0.        , 0.69314718], dtype=float64)
--- log2
>>> xp.log2(xp.asarray([8.0, 0.5, 0.0]))
Array([  3.,  -1., -inf], dtype=float64)
--- log10
>>> xp.log10(xp.asarray([1000.0, 0.01]))
Array([ 3., -2.], dtype=float64)
--- logaddexp
>>> xp.logaddexp(xp.asarray([0.0, 1000.0]), xp.asarray([0.0, 1000.0]))
Array([6.93147181e-01, 1.00069315e+03], dtype=float64)
>>> xp.log(xp.exp(xp.asarray(1000.0)) + xp.exp(xp.asarray(1000.0)))
Array(inf, dtype=float64)

=== trigonometric and hyperbolic functions
--- sin
>>> xp.sin(xp.asarray([0.0, xp.pi / 2, xp.pi]))
Array([0.0000000e+00, 1.0000000e+00, 1.2246468e-16], dtype=float64)
--- cos
>>> xp.cos(xp.asarray([0.0, xp.pi / 3, xp.pi]))
Array([ 1. ,  0.5, -1. ], dtype=float64)
--- tan
>>> xp.tan(xp.asarray([0.0, xp.pi / 4]))
Array([0., 1.], dtype=float64)
--- asin
>>> xp.asin(xp.asarray([0.0, 1.0, 2.0]))
Array([0.        , 1.57079633,        nan], dtype=float64)
>>> xp.asin(xp.asarray([2.0 + 0j]))
Array([1.57079633+1.3169579j], dtype=complex128)
--- acos
>>> xp.acos(xp.asarray([1.0, 0.0, -1.0, 2.0]))
Array([0.        , 1.57079633, 3.14159265,        nan], dtype=float64)
--- atan
>>> xp.atan(xp.asarray([1.0, -xp.inf]))
Array([ 0.78539816, -1.57079633], dtype=float64)
--- atan2
>>> xp.atan2(xp.asarray([1.0, 1.0, -1.0]), xp.asarray([1.0, -1.0, -1.0])) * (180 / xp.pi)
Array([  45.,  135., -135.], dtype=float64)
>>> xp.atan2(xp.asarray([0.0, -0.0]), -1.0)
Array([ 3.14159265, -3.14159265], dtype=float64)
--- sinh
>>> xp.sinh(xp.asarray([0.0, 1.0, -1000.0]))
Array([0.        , 1.17520119,       -inf], dtype=float64)
--- cosh
>>> xp.cosh(xp.asarray([0.0, 1.0, -1000.0]))
Array([1.        , 1.54308063,        inf], dtype=float64)
--- tanh
>>> xp.tanh(xp.asarray([0.5, 20.0, -xp.inf]))
Array([ 0.46211716,  1.        , -1.        ], dtype=float64)
--- asinh
>>> xp.asinh(xp.asarray([0.0, 1.0, -1e300]))
Array([   0.        ,    0.88137359, -691.46867508], dtype=float64)
--- acosh
>>> xp.acosh(xp.asarray([1.0, 2.0, 0.5]))
Array([0.       , 1.3169579,       nan], dtype=float64)
--- atanh
>>> xp.atanh(xp.asarray([0.5, 1.0, 2.0]))
Array([0.54930614,        inf,        nan], dtype=float64)
"""

EXAMPLES: Final = dict(
    entry.split("\n", 1) for group in TEXT.split("\n=== ") for entry in group.split("\n--- ")[1:]
)
