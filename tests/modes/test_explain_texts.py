"""The texts of `explain`, word by word."""

from __future__ import annotations

import operator
from typing import Any

import pytest

import stride0 as xp
from stride0._explain.explain import explain

MATRIX = xp.reshape(xp.arange(12.0), (3, 4))


def cost(price: Any, discount: Any, count: Any) -> None:
    """A function of the user; only the names of its parameters are used."""


# Calls and their output.
PAGE = """
>>> explain((4, 1), (3,), op="add")
add: (4, 1) with (3,) gives (4, 3)

    x1       (4, 1)    broadcast: axis -1 to 3
    x2          (3,)   broadcast: axis -2 (new) to 4
    result   (4, 3)

strides, in elements; at 0* the same element comes again

    x1       (1, 1)   ->   (1, 0*)
    x2          (1,)  ->  (0*,  1)
    result                 (3,  1)

memory

    x1       32 B stored, 96 B addressed (3 times)
    x2       24 B stored, 96 B addressed (4 times)
    result   12 elements, 96 B of float64

plan: 2 loops, innermost first; strides in elements

    axes   size   x1   x2   result
      -1      3    0    1        1
      -2      4    1    0        3

    innermost loop: x1 broadcast, x2 contiguous, result contiguous

>>> explain((4, 1), (4,), op=xp.subtract)
subtract: (4, 1) with (4,) gives (4, 4)

    x1       (4, 1)    broadcast: axis -1 to 4
    x2          (4,)   broadcast: axis -2 (new) to 4
    result   (4, 4)

strides, in elements; at 0* the same element comes again

    x1       (1, 1)   ->   (1, 0*)
    x2          (1,)  ->  (0*,  1)
    result                 (4,  1)

memory

    x1       32 B stored, 128 B addressed (4 times)
    x2       32 B stored, 128 B addressed (4 times)
    result   16 elements, 128 B of float64

plan: 2 loops, innermost first; strides in elements

    axes   size   x1   x2   result
      -1      4    0    1        1
      -2      4    1    0        4

    innermost loop: x1 broadcast, x2 contiguous, result contiguous

x1 and x2 have 4 elements each and broadcast each other: is that meant?

>>> explain((5, 1, 4), (3, 4))
broadcast: (5, 1, 4) with (3, 4) gives (5, 3, 4)

    x1       (5, 1, 4)   broadcast: axis -2 to 3
    x2          (3, 4)   broadcast: axis -3 (new) to 5
    result   (5, 3, 4)

strides, in elements; at 0* the same element comes again

    x1       (4, 4, 1)  ->   (4, 0*, 1)
    x2          (4, 1)  ->  (0*,  4, 1)
    result                  (12,  4, 1)

memory

    x1       160 B stored, 480 B addressed (3 times)
    x2       96 B stored, 480 B addressed (5 times)
    result   60 elements, 480 B of float64

plan: 3 loops, innermost first; strides in elements

    axes   size   x1   x2   result
      -1      4    1    1        1
      -2      3    0    4        4
      -3      5    4    0       12

    innermost loop: x1 contiguous, x2 contiguous, result contiguous

>>> explain((3, 1), (4,), (), op=xp.where)
where: (3, 1) with (4,) with () gives (3, 4)

    condition   (3, 1)    broadcast: axis -1 to 4
    x1             (4,)   broadcast: axis -2 (new) to 3
    x2              ()    broadcast: axis -2 (new) to 3, axis -1 (new) to 4
    result      (3, 4)

strides, in elements; at 0* the same element comes again

    condition   (1, 1)   ->   (1, 0*)
    x1             (1,)  ->  (0*,  1)
    x2              ()   ->  (0*, 0*)
    result                    (4,  1)

memory

    condition   24 B stored, 96 B addressed (4 times)
    x1          32 B stored, 96 B addressed (3 times)
    x2          8 B stored, 96 B addressed (12 times)
    result      12 elements, 96 B of float64

plan: 2 loops, innermost first; strides in elements

    axes   size   condition   x1   x2   result
      -1      4           0    1    0        1
      -2      3           1    0    0        4

    innermost loop: condition broadcast, x1 contiguous, x2 broadcast, result contiguous

>>> explain(MATRIX.T, xp.asarray([1, 2, 3], dtype=xp.int8), op=operator.lt)
lt: (4, 3) with (3,) gives (4, 3)

    a        (4, 3)
    b           (3,)   broadcast: axis -2 (new) to 4
    result   (4, 3)

strides, in elements; at 0* the same element comes again

    a        (1, 4)   ->   (1, 4)
    b           (1,)  ->  (0*, 1)
    result                 (1, 4)

memory

    a        96 B stored, 96 B addressed
    b        3 B stored, 12 B addressed (4 times)
    result   12 elements

plan: 2 loops, innermost first; strides in elements

    axes   size   a   b   result
      -2      4   1   0        1
      -1      3   4   1        4

    innermost loop: a contiguous, b broadcast, result contiguous

>>> explain(MATRIX[::-1, ::2])
broadcast: (3, 2)

    x        (3, 2)
    result   (3, 2)

strides, in elements

    x        (-4, 2)  ->  (-4, 2)
    result                 (2, 1)

memory

    x        48 B stored, 48 B addressed
    result   6 elements, 48 B of float64

plan: 2 loops, innermost first; strides in elements

    axes   size    x   result
      -1      2    2        1
      -2      3   -4        2

    innermost loop: x strided, result contiguous

>>> explain(xp.broadcast_to(xp.arange(3, dtype=xp.int32), (1000, 3)), op="exp")
exp: (1000, 3)

    x        (1000, 3)
    result   (1000, 3)

strides, in elements; at 0* the same element comes again

    x        (0*, 1)  ->  (0*, 1)
    result                 (3, 1)

memory

    x        12 B stored, 11.7 KiB addressed (1,000 times)
    result   3,000 elements, 23.4 KiB of float64

plan: 2 loops, innermost first; strides in elements

    axes   size   x   result
      -1      3   1        1
      -2   1000   0        3

    innermost loop: x contiguous, result contiguous

>>> explain((0, 3), (1, 3))
broadcast: (0, 3) with (1, 3) gives (0, 3)

    x1       (0, 3)
    x2       (1, 3)   broadcast: axis -2 to 0
    result   (0, 3)

strides, in elements; at 0* the same element comes again

    x1       (3, 1)  ->   (3, 1)
    x2       (3, 1)  ->  (0*, 1)
    result                (3, 1)

memory

    x1       0 B stored, 0 B addressed
    x2       24 B stored, 0 B addressed
    result   0 elements, 0 B of float64

plan: no elements, nothing to do

>>> explain((), ())
broadcast: () with () gives ()

    x1       ()
    x2       ()
    result   ()

strides, in elements

    x1       ()  ->  ()
    x2       ()  ->  ()
    result           ()

memory

    x1       8 B stored, 8 B addressed
    x2       8 B stored, 8 B addressed
    result   1 element, 8 B of float64

plan: one element, no loop

>>> explain((10, 1, 3, 4), (1, 20, 4, 5), op="matmul")
matmul: (10, 1, 3, 4) with (1, 20, 4, 5) gives (10, 20, 3, 5)

             leading axes   matrices
    x1       (10,  1)       (3, 4)     broadcast: leading axis -1 to 20
    x2        (1, 20)       (4, 5)     broadcast: leading axis -2 to 10
    result   (10, 20)       (3, 5)

strides, in elements; at 0* the same element comes again

    x1    (12, 12, 4, 1)  ->  (12, 0*, 4, 1)
    x2   (400, 20, 5, 1)  ->  (0*, 20, 5, 1)

memory

    x1       960 B stored, 18.8 KiB addressed (20 times)
    x2       3,200 B stored, 31.2 KiB addressed (10 times)
    result   3,000 elements, 23.4 KiB of float64

>>> explain((4,), (2, 4, 5), op=xp.matmul)
matmul: (4,) with (2, 4, 5) gives (2, 5)

             leading axes   matrices
    x1        ()               (4,)    broadcast: leading axis -1 (new) to 2
    x2       (2,)           (4, 5)
    result   (2,)              (5,)

strides, in elements; at 0* the same element comes again

    x1          (1,)  ->      (0*, 1)
    x2   (20, 5, 1)   ->  (20,  5, 1)

memory

    x1       32 B stored, 64 B addressed (2 times)
    x2       320 B stored, 320 B addressed
    result   10 elements, 80 B of float64

>>> explain((5, 6), (10,))
broadcast: operands could not be broadcast together at axis -1

    x1   (5,  6)
    x2      (10,)
              ^
    axis -1 has size 6 in x1 and 10 in x2; sizes must be equal, or one of them 1.

one inserted axis makes them fit

    x1[:, :, None]   gives (5, 6, 10)

>>> explain((8, 3, 5), (8, 3), op="multiply")
multiply: operands could not be broadcast together at axis -1

    x1   (8, 3, 5)
    x2      (8, 3)
                ^
    axis -1 has size 5 in x1 and 3 in x2; sizes must be equal, or one of them 1.
    sizes clash at axis -2 too.

one inserted axis makes them fit

    x2[:, :, None]   gives (8, 3, 5), where equal sizes meet

>>> explain((2, 3), (2, 4))
broadcast: operands could not be broadcast together at axis -1

    x1   (2, 3)
    x2   (2, 4)
             ^
    axis -1 has size 3 in x1 and 4 in x2; sizes must be equal, or one of them 1.

no single inserted axis makes them fit

>>> explain((2, 3), (2, 1), (4, 3), op=cost)
cost: operands could not be broadcast together at axis -2

    price      (2, 3)
    discount   (2, 1)
    count      (4, 3)
                ^
    axis -2 has size 2 in price and 4 in count; sizes must be equal, or one of them 1.

one inserted axis makes them fit

    count[:, None, :]   gives (4, 2, 3)

>>> explain((3, 4), (3, 4), op="matmul")
matmul: the inner sizes differ: 4 in x1 and 3 in x2

    x1   (3, 4)
    x2   (3, 4)

    make the inner sizes equal, for example by matrix_transpose(x2)

one inserted axis makes them fit

    x2[:, :, None]   gives (3, 3, 1)

"""

CASES = [case.split("\n", 1) for case in PAGE.split("\n>>> ")[1:]]
NAMES = {"explain": explain, "xp": xp, "operator": operator, "MATRIX": MATRIX, "cost": cost}


@pytest.mark.parametrize(("call", "text"), CASES, ids=[call for call, _ in CASES])
def test_texts(call: str, text: str) -> None:
    explanation = eval(call, dict(NAMES))
    assert str(explanation) == repr(explanation) == text.strip("\n")


CONTRACTION = """\
einsum: "ij,jk,kl->il"

    label                    i   l   j   k
    size                     2   5   3   4
    strides of operands[0]   3   0   1   0
    strides of operands[1]   0   0   1   3
    strides of operands[2]   0   1   0   0
    strides of the result    5   1   0   0

    Stride 0 on an operand repeats its elements.
    Stride 0 on the result sums up: along j, k.
    t0 = operands[0] times operands[1]: ij,jk->ki, 24 elements of the space
    result = operands[2] times t0: kl,ki->il, 40 elements of the space"""


def test_contractions() -> None:
    x = xp.ones((2, 3))
    y = xp.ones((4, 3)).T
    z = xp.broadcast_to(xp.ones((5,)), (4, 5))
    found = xp.explain("ij,jk,kl->il", x, y, z)
    assert found.strides == ((3, 0, 1, 0), (0, 0, 1, 3), (0, 1, 0, 0))
    assert str(found) == repr(found) == CONTRACTION
    assert found.steps[-1].products == 40
    html = found._repr_html_()
    assert html.count("<tr>") == 6
    assert html.count("background") == sum(row.count(0) for row in (*found.strides, found.result_strides))


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: xp.explain("ij->ji"), xp.ArgumentValueError),
        (lambda: xp.explain("ij->ji", (2, 3, 4)), xp.ShapeError),
        (lambda: xp.explain("ij,j->i", (2, 3), (4,)), xp.ShapeError),
        (lambda: xp.explain("ij->ji", [2, 3]), xp.ArgumentTypeError),
        (lambda: xp.explain("ij->ji", (2, 3), op="add"), xp.ArgumentValueError),
    ],
)
def test_contractions_that_are_none(call: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        call()
