"""Methods of arrays: each agrees with its function and with NumPy's method of the same name."""

from __future__ import annotations

import ast
import inspect
import math
import operator
import pathlib
import pickle

import numpy as np
import pytest

import stride0 as xp
from stride0 import autograd
from stride0._tables import methods as method_table
from stride0._tables import operations

MIRRORED = method_table.mirrored(operations.OPS)
MATRIX = np.asarray([[3.0, 1.0, 2.0], [-4.0, 0.5, 9.0]])

# Arguments of each method besides the array; most take no arguments.
ARGUMENTS = {
    "astype": (xp.float32,),
    "broadcast_to": ((4, 2, 3),),
    "cumprod": (1,),
    "cumsum": (0,),
    "cumulative_prod": (1,),
    "cumulative_sum": (0,),
    "expand_dims": (1,),
    "moveaxis": (0, 1),
    "repeat": (2, 1),
    "roll": (1, 1),
    "searchsorted": (xp.asarray([2.5, 0.0]), "right"),
    "take": (xp.asarray([2, 0]), 1),
    "take_along_axis": (xp.asarray([[0], [2]]), 1),
    "tile": ((2, 1),),
    "unstack": (1,),
    **dict.fromkeys(("all", "any", "argmax", "argmin", "argsort", "count_nonzero", "flip"), (1,)),
    **dict.fromkeys(("max", "mean", "min", "prod", "std", "sum", "var"), (1,)),
    **dict.fromkeys(("tril", "triu"), (1,)),
}
REAL = ("int8", "uint32", "int64", "float32", "float64")
INTEGER = ("bitwise_invert",)
BOOLEAN = ("logical_not",)


def operand(name: str) -> xp.Array:
    if name == "searchsorted":
        return xp.asarray([1.0, 2.0, 3.0])
    if name in INTEGER:
        return xp.asarray([[1, 2, 3], [4, 5, 6]])
    x = xp.asarray(np.abs(MATRIX) / 10 if name in ("acos", "asin", "atanh", "log1p") else MATRIX)
    if name in ("log", "log2", "log10", "sqrt", "acosh"):
        x = xp.abs(x) + 1
    return x > 0 if name in BOOLEAN else x


def same(found: object, wanted: object) -> None:
    if isinstance(wanted, tuple):
        assert isinstance(found, tuple)
        for one, other in zip(found, wanted, strict=True):
            same(one, other)
        return
    assert isinstance(found, xp.Array) and isinstance(wanted, xp.Array)
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(np.asarray(found), np.asarray(wanted))


@pytest.mark.parametrize("name", MIRRORED)
def test_a_method_is_its_function(name: str) -> None:
    function, positional = MIRRORED[name]
    x, arguments = operand(name), ARGUMENTS.get(name, ())
    # The function takes by name what the method also takes by position.
    plain = 1 if name == "searchsorted" else max(0, len(arguments) - len(positional))
    named = dict(zip(positional, arguments[plain:], strict=False))
    wanted = getattr(xp, function)(x, *arguments[:plain], **named)
    same(getattr(x, name)(*arguments), wanted)
    same(getattr(x, name)(*arguments[:plain], **named), wanted)
    same(getattr(xp.Array, name)(x, *arguments), wanted)


@pytest.mark.parametrize(
    "name", [name for name in MIRRORED if hasattr(np.ndarray, name) and name not in ("astype", "repeat")]
)
def test_numpys_method_of_that_name_agrees(name: str) -> None:
    x = operand(name)
    arguments = [np.asarray(a) if isinstance(a, xp.Array) else a for a in ARGUMENTS.get(name, ())]
    wanted = getattr(np.asarray(x), name)(*arguments)
    found = getattr(x, name)(*ARGUMENTS.get(name, ()))
    if isinstance(wanted, tuple):
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(np.asarray(one), other)
    else:
        np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-15)


def test_sort_is_no_method() -> None:
    # NumPy's `sort` works in place and returns None, PyTorch's returns a pair; ours would be a third form.
    assert not hasattr(xp.ones(3), "sort")


def test_what_a_method_is() -> None:
    assert xp.Array.sum.__name__ == "sum" and xp.Array.sum.__doc__ == xp.sum.__doc__
    assert repr(xp.Array.sum) == "<method sum of stride0 arrays>"
    assert inspect.ismethod(xp.ones(2).sum)
    assert pickle.loads(pickle.dumps(xp.Array.sum)) is xp.Array.sum
    assert {"sum", "reshape", "T", "dtype"} <= set(dir(xp.ones(2)))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda x: x.sum(0, 1), "2 arguments by position, at most 1"),
        (lambda x: x.sum(0, axis=0), "axis is given by position and by name"),
        (lambda x: x.sum(wrong=0), "wrong"),
        (lambda x: xp.Array.sum(), "first argument has to be a stride0 array"),
        (lambda x: xp.Array.sum(np.ones(3)), "first argument has to be a stride0 array"),
        (lambda x: x.exp(1), "1 argument by position, at most 0"),
    ],
)
def test_wrong_calls(call, text: str) -> None:
    with pytest.raises(TypeError, match=text):
        call(xp.ones((2, 3)))


class TestNumpysFunctions:
    """NumPy's functions call methods of arrays, with NumPy's keyword arguments."""

    @pytest.mark.parametrize("axis", [None, 0, -1])
    @pytest.mark.parametrize(
        ("name", "dtype", "keepdims"),
        [
            (name, dtype, keepdims)
            for names, dtypes, options in [
                (("sum", "prod", "mean", "std", "var", "any", "all"), ("bool", *REAL), (None, False, True)),
                (("min", "max", "amin", "amax", "argmax", "argmin"), REAL, (None, False, True)),
                (("cumsum", "cumprod"), ("bool", *REAL), (None,)),
            ]
            for name in names
            for dtype in dtypes
            for keepdims in options
        ],
    )
    def test_reductions(self, name: str, dtype: str, axis: int | None, keepdims: bool | None) -> None:
        n = np.asarray([[3, 0, 2], [1, 5, 2]]).astype(dtype)
        named = {} if keepdims is None else {"keepdims": keepdims}
        wanted = getattr(np, name)(n, axis=axis, **named)
        found = getattr(np, name)(xp.asarray(n), axis=axis, **named)
        assert isinstance(found, xp.Array)
        assert found.shape == wanted.shape
        # float32 is summed in float64, and rounded once.
        np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-7, strict=True)

    @pytest.mark.parametrize(
        "call",
        [
            lambda a: np.std(a, ddof=1),
            lambda a: np.var(a, axis=1, ddof=1, keepdims=True),
            lambda a: np.std(a, axis=0, correction=1),
            lambda a: np.mean(a, dtype=np.float32),
            lambda a: np.std(a, axis=0, dtype=np.float32),
            lambda a: np.sum(a, dtype=np.float32, axis=0),
            lambda a: np.cumsum(a, dtype=np.float32),
            lambda a: a.std(0, ddof=1),
            lambda a: a.var(ddof=0.5),
            lambda a: a.sum(axis=0, out=None, where=True, keepdims=True),
            lambda a: np.clip(a, -1, 2),
            lambda a: np.clip(a, -1, None, out=None),
            lambda a: np.argsort(a),
            lambda a: np.argsort(a, axis=0, kind="stable"),
            lambda a: np.round(a),
            lambda a: np.around(a, 1),
            lambda a: a.round(1),
            lambda a: a.round(decimals=-1, out=None),
            lambda a: np.take(a, [5, 0, -1]),
            lambda a: a.take([[1, 0]]),
            lambda a: a.take([], axis=0),
            lambda a: np.take(a, [1, 0, 1], axis=1),
            lambda a: a.take(np.asarray([1, 0]), 0),
            lambda a: a.take(np.int64(3)),
            lambda a: a.cumsum(),
            lambda a: a.cumprod(None),
            lambda a: np.cumsum(a[0, 0]),
            lambda a: np.reshape(a, (3, 2)),
            lambda a: np.reshape(a, -1, order="C"),
            lambda a: a.reshape(3, -1, order="C"),
            lambda a: a.ravel(order="C"),
            lambda a: a.flatten(order="C"),
            lambda a: np.repeat(a, 2, axis=0),
            lambda a: np.transpose(a),
            lambda a: np.squeeze(a),
            lambda a: np.nonzero(a)[1],
        ],
    )
    def test_other_calls(self, call) -> None:
        n = np.asarray([[3.25, 1.0, 2.0], [-47.0, 0.5, 9.0]])
        wanted = np.asarray(call(n))
        found = call(xp.asarray(n))
        assert isinstance(found, xp.Array)
        np.testing.assert_allclose(np.asarray(found), wanted, rtol=2e-7, strict=True)

    def test_what_numpy_gives_for_nothing(self) -> None:
        x = xp.asarray(MATRIX)
        same(x.max(1, out=None, where=np._NoValue, initial=np._NoValue), xp.max(x, axis=1))
        same(x.argmin(axis=None, out=None, keepdims=np._NoValue), xp.argmin(x))

    @pytest.mark.parametrize("places", [-400, -40, -13, -3, -1, 0, 1, 2, 7, 9, 15, 23, 40, 400])
    @pytest.mark.parametrize(
        "dtype", ["int16", "uint64", "int64", "float32", "float64", "complex64", "complex128"]
    )
    def test_round_is_numpys_to_the_bit(self, dtype: str, places: int) -> None:
        rng = np.random.default_rng(8)
        n = rng.normal(size=400) * 10.0 ** rng.integers(-2, 5, 400)
        n[:8] = [-0.0, 0.0, 0.5, 1.5, -2.5, 0.125, -0.04, 25]
        if dtype.startswith("complex"):
            n = n + 1j * n[::-1]
        elif dtype.endswith(("int64", "int16")):
            n = n % 20000
        n = n.astype(dtype)
        with np.errstate(all="ignore"):
            wanted = np.round(n, places)
        found = np.asarray(xp.asarray(n).round(places))
        assert found.dtype == wanted.dtype
        assert found.tobytes() == wanted.tobytes()

    @pytest.mark.parametrize(
        ("call", "text"),
        [
            (lambda x: np.sum(x, out=x), "sum: out is accepted only with its neutral value"),
            (lambda x: np.argmax(x, out=np.zeros(3)), "argmax: out is accepted"),
            (lambda x: np.max(x, where=np.asarray([True, False, True])), "max: where is accepted"),
            (lambda x: np.take(x, [0], mode="wrap"), "take: mode is accepted"),
            (lambda x: x.reshape((3, 2), order="F"), "reshape: order is accepted"),
            (lambda x: x.std(ddof=1, correction=1), "name the same argument"),
        ],
    )
    def test_what_asks_for_more_is_refused(self, call, text: str) -> None:
        with pytest.raises(ValueError, match=text):
            call(xp.ones((2, 3)))

    @pytest.mark.parametrize(
        "call",
        [
            lambda x: x.std(dtype=int),
            lambda x: np.max(x, initial=7.0),
            lambda x: x.cumulative_sum(out=None),
            lambda x: x.round(0.5),
            lambda x: x.take([0.5]),
        ],
    )
    def test_other_refusals(self, call) -> None:
        with pytest.raises(TypeError):
            call(xp.ones((2, 3)))

    def test_gradients_pass_through(self) -> None:
        x = xp.asarray(MATRIX)
        for numpys, ours in [
            (lambda x: np.sum(x * x, axis=0)[1], lambda x: xp.sum(x * x, axis=0)[1]),
            (lambda x: np.std(x, ddof=1), lambda x: xp.std(x, correction=1)),
            (lambda x: x.take([2, 0]).sum(), lambda x: x[0, 2] + x[0, 0]),
            (lambda x: (x.cumsum() * x.ravel()).sum(), None),
        ]:
            found = autograd.grad(numpys)(x)
            wanted = autograd.grad(ours)(x) if ours else None
            if wanted is None:
                flat = MATRIX.ravel()
                wanted = (flat.sum() + flat).reshape(2, 3)
            np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), rtol=1e-15)

    def test_strict_mode_hides_them(self) -> None:
        # Without a method, NumPy's functions would continue with NumPy arrays.
        with xp.strict():
            with pytest.raises(AttributeError):
                xp.ones(3).sum(out=None)
            with pytest.raises(xp.StrictError, match="std: a function of NumPy"):
                np.std(xp.ones(3), ddof=1)


class TestOwn:
    """Methods that do more than call a function with the array as first argument."""

    @pytest.mark.parametrize("shape", [(3, 2), (6,), (-1,), (-1, 2), (1, 6, 1)])
    def test_reshape(self, shape: tuple[int, ...]) -> None:
        x, n = xp.asarray(MATRIX), MATRIX
        for found in (x.reshape(shape), x.reshape(*shape), x.reshape(list(shape))):
            np.testing.assert_array_equal(np.asarray(found), n.reshape(shape))
        assert xp.strided.shares_storage(x.reshape(shape), x)
        assert not xp.strided.shares_storage(x.reshape(shape, copy=True), x)

    def test_reshape_to_no_axes(self) -> None:
        assert xp.ones((1, 1)).reshape(()).shape == () and xp.ones(1).reshape().shape == ()

    @pytest.mark.parametrize("axes", [(), (None,), (1, 0), ((1, 0),), (-1, 0), ([0, 1],)])
    def test_transpose(self, axes: tuple) -> None:
        np.testing.assert_array_equal(
            np.asarray(xp.asarray(MATRIX).transpose(*axes)), MATRIX.transpose(*axes)
        )

    def test_permute_dims(self) -> None:
        x = xp.zeros((2, 3, 4))
        assert x.permute_dims(2, 0, 1).shape == x.permute_dims((2, 0, 1)).shape == (4, 2, 3)

    def test_squeeze(self) -> None:
        x = xp.zeros((1, 3, 1))
        assert x.squeeze().shape == (3,)
        assert x.squeeze(0).shape == (3, 1)
        assert x.squeeze(axis=(0, 2)).shape == (3,)
        with pytest.raises(ValueError, match="squeeze"):
            x.squeeze(1)

    def test_copies(self) -> None:
        x = xp.asarray(MATRIX.copy()).T
        for y in (x.copy(), x.flatten()):
            assert not xp.strided.shares_storage(x, y)
        np.testing.assert_array_equal(np.asarray(x.flatten()), MATRIX.T.flatten())
        np.testing.assert_array_equal(np.asarray(x.ravel()), MATRIX.T.ravel())
        assert xp.strided.shares_storage(x.T, x.T.ravel())

    @pytest.mark.parametrize(
        "dtype", ["bool", "int8", "uint64", "float32", "float64", "complex64", "complex128"]
    )
    def test_tolist_and_item(self, dtype: str) -> None:
        n = np.asarray([[0, 1, 2], [3, 4, 5]]).astype(dtype)
        x = xp.asarray(n)
        assert x.tolist() == n.tolist()
        assert type(x.item(1, 2)) is type(n.item(1, 2))
        for index in [(0,), (5,), (-1,), (1, 2), (-2, -1), ((1, 0),)]:
            assert x.item(*index) == n.item(*index)
        assert x[0, 0].item() == n[0, 0].item() and x[0, 0].tolist() == n[0, 0].tolist()
        assert xp.ones((1, 1)).item() == 1.0

    @pytest.mark.parametrize("index", [(6,), (-7,), (0, 3), (2, 0)])
    def test_item_out_of_bounds(self, index: tuple[int, ...]) -> None:
        with pytest.raises(IndexError):
            xp.ones((2, 3)).item(*index)

    def test_item_takes_integers_of_any_kind(self) -> None:
        x = xp.asarray(MATRIX)
        assert x.item(np.int64(4)) == x.item(xp.asarray(1), np.int8(-2)) == MATRIX[1, 1]
        assert x.item([1, 1]) == x.T.item(3) == MATRIX[1, 1]
        for index in ((2**70,), (0, -(2**70)), (2**63,)):
            with pytest.raises(IndexError, match="out of bounds"):
                x.item(*index)

    @pytest.mark.parametrize("name", ["conj", "conjugate"])
    def test_conj(self, name: str) -> None:
        # As in NumPy, the conjugate of a real array is the array itself.
        for dtype in ("float32", "int64"):
            x = xp.asarray(MATRIX, dtype=getattr(xp, dtype), copy=True)
            assert getattr(x, name)() is x
        z = xp.asarray(MATRIX * (1 + 2j))
        same(getattr(z, name)(), xp.conj(z))
        assert not xp.strided.shares_storage(getattr(z, name)(), z)
        with pytest.raises(TypeError):
            getattr(xp.asarray([True]), name)()
        gradient = autograd.grad(lambda x: (getattr(x, name)() * x).sum())(xp.asarray([3.0]))
        assert gradient.tolist() == [6.0]

    def test_squeeze_of_nothing_is_the_array(self) -> None:
        x = xp.zeros((2, 3))
        assert x.squeeze() is x and x.squeeze(()).shape == (2, 3)
        gradient = autograd.grad(lambda x: (x.squeeze() ** 2).sum())(xp.asarray([3.0, 1.0]))
        assert gradient.tolist() == [6.0, 2.0]

    @pytest.mark.parametrize(
        "call",
        [
            lambda x: x.copy(1),
            lambda x: x.reshape(3, 2, shape=(3, 2)),
            lambda x: x.squeeze(0, 1),
            lambda x: x.squeeze(axis=0, axes=1),
            lambda x: x.view(xp.int64, xp.int64),
            lambda x: x.transpose(axes=(1, 0)),
            lambda x: x.item(index=0),
            lambda x: x.reshape(3, 2, copy="no"),
            lambda x: x.reshape(),
            lambda x: xp.Array.reshape(),
        ],
    )
    def test_wrong_calls(self, call) -> None:
        with pytest.raises((TypeError, ValueError)):
            call(xp.ones((2, 3)))

    def test_item_refusals(self) -> None:
        with pytest.raises(ValueError, match="needs an index"):
            xp.ones((2, 3)).item()
        with pytest.raises(ValueError, match="3 indices for 2 axes"):
            xp.ones((2, 3)).item(0, 0, 0)
        with pytest.raises(TypeError):
            xp.ones((2, 3)).item(0.5)


class TestView:
    """`x.view(dtype)`: the same bytes, interpreted as NumPy does."""

    @pytest.mark.parametrize(
        "target", ["int8", "uint16", "int32", "float32", "int64", "float64", "complex128"]
    )
    @pytest.mark.parametrize("source", ["uint8", "float32", "float64", "complex128", "bool"])
    @pytest.mark.parametrize("layout", ["plain", "transposed", "sliced", "stepped", "0-d", "empty", "one"])
    def test_as_numpy(self, source: str, target: str, layout: str) -> None:
        n = (np.arange(96) % 7).reshape(4, 24).astype(source)
        n = {
            "plain": n,
            "transposed": n.T,
            "sliced": n[1:3, 8:],
            "stepped": n[:, ::2],
            "0-d": n[1, 2],
            "empty": n[:0],
            "one": n[:, :1],
        }[layout]
        n = np.asarray(n)
        x = xp.asarray(n, copy=False)
        try:
            wanted = n.view(target)
        except ValueError:
            with pytest.raises(ValueError, match="view"):
                x.view(getattr(xp, target))
            return
        if wanted.ctypes.data % wanted.itemsize or any(step % wanted.itemsize for step in wanted.strides):
            return  # unaligned elements, which NumPy reads and stride0 refuses: below
        found = x.view(getattr(xp, target))
        assert found.dtype == getattr(xp, target) and found.shape == wanted.shape
        np.testing.assert_array_equal(
            np.asarray(found).view(np.uint8), wanted.view(np.uint8), strict=True
        ) if (wanted.flags.c_contiguous and wanted.ndim) else np.testing.assert_array_equal(
            np.asarray(found), wanted
        )
        if found.size:
            assert xp.strided.shares_storage(found, x)

    def test_builtin_types_and_nothing(self) -> None:
        x = xp.asarray([1 + 2j, 3 - 1j])
        assert x.view(float).tolist() == [1.0, 2.0, 3.0, -1.0]
        y = x.view()
        y[0] = 5
        assert x[0] == 5 and y is not x

    def test_writes_reach_the_memory(self) -> None:
        x = xp.zeros(2, dtype=xp.complex128)
        x.view(xp.float64)[1] = 7
        assert x[0] == 7j

    def test_refusals(self) -> None:
        with pytest.raises(TypeError, match="cannot be viewed as bool"):
            xp.ones(3, dtype=xp.uint8).view(xp.bool)
        memory = np.zeros(17, np.uint8)
        with pytest.raises(ValueError, match="aligned"):
            xp.asarray(memory[1:]).view(xp.float64)
        with pytest.raises(ValueError, match="not contiguous"):
            xp.ones((2, 4))[:, ::2].view(xp.float32)
        with pytest.raises(ValueError, match="cannot be elements"):
            xp.ones(3, dtype=xp.float32).view(xp.float64)
        with pytest.raises(xp.GradientError):
            autograd.grad(lambda x: xp.sum(x.view(xp.float32)))(xp.ones(2))


def test_gradients_pass_through_methods() -> None:
    def f(x: xp.Array) -> xp.Array:
        return (x.reshape(3, 2).transpose().exp() * x.mean(0).expand_dims(1)[:2]).sum()

    def g(x: xp.Array) -> xp.Array:
        means = xp.expand_dims(xp.mean(x, axis=0), 1)[:2]
        return xp.sum(xp.exp(xp.permute_dims(xp.reshape(x, (3, 2)), (1, 0))) * means)

    x = xp.asarray(MATRIX)
    np.testing.assert_array_equal(np.asarray(autograd.grad(f)(x)), np.asarray(autograd.grad(g)(x)))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "int64", "uint16"])
def test_the_builtin_round(dtype: str) -> None:
    for value in (0, 1, 5, 15, 25, 127, 2.5, 3.5, -0.5, 99.4999, 1.005):
        scalar = np.asarray(value).astype(dtype)[()]
        x = xp.asarray(scalar)
        for digits in (0, 1, 2, -1, np.int64(1), True):
            found = round(x, digits)
            assert isinstance(found, xp.Array) and found.dtype is x.dtype and found.shape == ()
            np.testing.assert_array_equal(np.asarray(found), round(scalar, int(digits)))
        for found in (round(x), round(x, None), round(xp.asarray([scalar]))):
            assert type(found) is int and found == round(scalar.item()) == round(scalar)
    many = xp.asarray([[0.125, 2.675], [-1.005, 1e300]])
    np.testing.assert_array_equal(np.asarray(round(many, 2)), np.round(np.asarray(many), 2))
    assert round(xp.asarray(1.26 - 2.34j), 1) == xp.asarray(1.3 - 2.3j)


def test_the_builtin_round_refuses() -> None:
    for x, digits, kind in (
        (xp.asarray([1.0, 2.0]), (), TypeError),
        (xp.asarray([]), (), TypeError),
        (xp.asarray(1j), (), TypeError),
        (xp.asarray(1.5), (1.5,), TypeError),
        (xp.asarray(math.nan), (), ValueError),
        (xp.asarray(math.inf), (), OverflowError),
    ):
        with pytest.raises(kind):
            round(x, *digits)
    with xp.strict():
        for digits in ((), (2,)):
            with pytest.raises(xp.StrictError, match="arrays have no method __round__"):
                round(xp.asarray(1.5), *digits)
    (gradient,) = autograd.grad(lambda x: round(x[0], 2) + x[0], argnums=(0,))(xp.asarray([1.234]))
    assert float(gradient[0]) == 1.0  # the step function has the derivative 0


def test_tracked_arrays_keep_their_values() -> None:
    for name in ("item", "tolist"):
        with pytest.raises((xp.GradientError, BufferError)):
            autograd.grad(lambda x, name=name: operator.methodcaller(name)(xp.sum(x)) * x[0])(xp.ones(3))


def test_stubs_list_the_methods() -> None:
    stub = pathlib.Path(xp.__file__).parent / "_core" / "array" / "array.pyi"
    if not stub.exists():  # an editable install has them in its build folder
        pytest.skip("the stubs are not beside the package")
    tree = ast.parse(stub.read_text(encoding="utf-8"))
    (array,) = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Array"]
    listed = {node.name for node in array.body if isinstance(node, ast.FunctionDef)}
    assert {*MIRRORED, *method_table.OWN} <= listed
    taken = {node.name: ast.unparse(node.args) for node in array.body if isinstance(node, ast.FunctionDef)}
    assert taken["sum"] == (
        "self, axis: Axis=None, *, dtype: DTypeLike | None=None, keepdims: bool=False, "
        "out: None=None, where: Literal[True]=True"
    )
    assert taken["round"] == "self, decimals: int=0, *, out: None=None"
    assert "ddof" in taken["std"] and taken["reshape"].endswith("order: Literal['C']='C'")
    assert taken["clip"].startswith("self, min: Operand | None=None, max")


def test_arguments_by_numpys_names() -> None:
    x = xp.arange(3)
    assert x.astype(dtype="float32").dtype is xp.float32 and x.astype(dtype=xp.int64, copy=False) is x
    assert x.take(indices=xp.asarray([2])).tolist() == [2]
