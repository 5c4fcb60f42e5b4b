"""`stride0.random` gives the numbers of `numpy.random` for the same seed and the same calls."""

from __future__ import annotations

import copy
import inspect
import pickle
import sys
import threading
from typing import Any

import numpy as np
import pytest

import stride0 as xp
from stride0.random import Generator, default_rng
from stride0.testing import flags

NAMES = sorted(name for name in dir(np.random.Generator) if not name.startswith("_"))
X = np.arange(12.0).reshape(3, 4)
# Arguments of each method, arrays among them.
CALLS: dict[str, list[tuple[Any, ...]]] = {
    "beta": [(2.0, 3.0), (np.asarray([1.0, 2.0]), 3.0, (4, 2))],
    "binomial": [(10, 0.3), (np.asarray([5, 50]), 0.5)],
    "bytes": [(7,)],
    "chisquare": [(3.0, 4)],
    "choice": [(10, 4), (X, 2), (np.arange(5), (2, 2)), (10,)],
    "dirichlet": [(np.asarray([1.0, 2.0, 3.0]), 4)],
    "exponential": [(), (2.0, (2, 3))],
    "f": [(3.0, 4.0, 2)],
    "gamma": [(2.0,), (np.asarray([[1.0], [2.0]]), np.asarray([1.0, 3.0]))],
    "geometric": [(0.3, 5)],
    "gumbel": [(0.0, 1.0, 3)],
    "hypergeometric": [(10, 20, 5, 3)],
    "integers": [(10,), (2, 8, (3, 2)), (np.asarray([2, 30]),)],
    "laplace": [(0.0, 1.0, 3)],
    "logistic": [(0.0, 1.0, 3)],
    "lognormal": [(0.0, 1.0, 3)],
    "logseries": [(0.5, 3)],
    "multinomial": [(10, np.asarray([0.2, 0.8]), 3)],
    "multivariate_hypergeometric": [(np.asarray([5, 6, 7]), 4, 2)],
    "multivariate_normal": [(np.zeros(2), np.asarray([[2.0, 0.5], [0.5, 1.0]]), (3,))],
    "negative_binomial": [(3, 0.4, 3)],
    "noncentral_chisquare": [(3.0, 1.0, 3)],
    "noncentral_f": [(3.0, 4.0, 1.0, 3)],
    "normal": [(), (1.0, 2.0), (np.asarray([1.0, 2.0]), 2.0, (3, 2))],
    "pareto": [(3.0, 3)],
    "permutation": [(7,), (X,), (X, 1)],
    "permuted": [(X,)],
    "poisson": [(), (4.0, (2, 2))],
    "power": [(3.0, 3)],
    "random": [(), (3,), ((2, 3), "float32")],
    "rayleigh": [(2.0, 3)],
    "shuffle": [],
    "spawn": [],
    "standard_cauchy": [(3,)],
    "standard_exponential": [(), (3,), (3, "float32"), (3, "float64", "inv")],
    "standard_gamma": [(2.0,), (2.0, 3), (2.0, 3, "float32"), (np.asarray([1.0, 2.0]),)],
    "standard_normal": [(), ((2, 3),), (3, "float32")],
    "standard_t": [(3.0, 3)],
    "triangular": [(0.0, 1.0, 2.0, 3)],
    "uniform": [(), (1.0, 2.0, (2, 3)), (0.0, np.asarray([1.0, 2.0]))],
    "vonmises": [(0.0, 1.0, 3)],
    "wald": [(1.0, 1.0, 3)],
    "weibull": [(2.0, 3)],
    "zipf": [(2.0, 3)],
}


def ours(value: Any) -> Any:
    return xp.asarray(value, copy=True) if isinstance(value, np.ndarray) else value


def test_every_method_of_numpy_is_there_with_its_parameters() -> None:
    assert set(NAMES) == set(CALLS) | {"bit_generator"}
    for name in set(NAMES) - {"bit_generator"}:
        words = " ".join(getattr(np.random.Generator, name).__doc__.strip().split("\n\n")[0].split())
        theirs = [
            part.split("=")[0].strip() for part in words[words.index("(") + 1 : words.rindex(")")].split(",")
        ]
        found = list(inspect.signature(getattr(Generator, name)).parameters)[1:]
        assert found == [part for part in theirs if part != "*"], name


@pytest.mark.parametrize("seed", [1, [2, 3], 2**100])
@pytest.mark.parametrize("name", sorted(CALLS))
def test_the_numbers_are_numpys(name: str, seed: Any) -> None:
    rng, theirs = default_rng(seed), np.random.default_rng(seed)
    for arguments in CALLS[name]:
        for _ in range(2):
            found = getattr(rng, name)(*map(ours, arguments))
            expected = getattr(theirs, name)(*arguments)
            if isinstance(expected, bytes):
                assert found == expected
                continue
            assert type(found) is xp.Array
            assert found.shape == np.shape(expected)
            assert str(found.dtype) == str(np.asarray(expected).dtype)
            assert np.asarray(found).tobytes() == np.asarray(expected).tobytes()


def test_arguments_by_name() -> None:
    rng, theirs = default_rng(1), np.random.default_rng(1)
    found = rng.normal(loc=xp.asarray([1.0, 2.0]), scale=3.0, size=(4, 2))
    assert np.array_equal(np.asarray(found), theirs.normal(loc=[1.0, 2.0], scale=3.0, size=(4, 2)))
    weights = np.asarray([0.1, 0.2, 0.7])
    found = rng.choice(3, size=5, p=xp.asarray(weights), replace=True)
    assert np.array_equal(np.asarray(found), theirs.choice(3, size=5, p=weights, replace=True))


@pytest.mark.parametrize(
    "dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"]
)
def test_dtypes_of_integers(dtype: str) -> None:
    found = default_rng(1).integers(0, 2, 20, dtype=getattr(xp, dtype))
    assert found.dtype == getattr(xp, dtype)
    assert np.array_equal(np.asarray(found), np.random.default_rng(1).integers(0, 2, 20, dtype=dtype))


@pytest.mark.parametrize("dtype", [xp.float64, xp.float32])
@pytest.mark.parametrize("name", ["random", "standard_normal", "standard_exponential", "standard_gamma"])
def test_out_is_filled_in_place(name: str, dtype: Any) -> None:
    given = (2.0,) if name == "standard_gamma" else ()
    base = xp.zeros((4, 3), dtype=dtype)
    view = base[1:3]
    result = getattr(default_rng(1), name)(*given, dtype=dtype, out=view)
    assert result is view
    expected = getattr(np.random.default_rng(1), name)(*given, size=(2, 3), dtype=str(dtype))
    assert np.array_equal(np.asarray(base[1:3]), expected)
    assert float(xp.sum(xp.abs(base[0])) + xp.sum(xp.abs(base[3]))) == 0.0


def test_arrays_are_shuffled_in_place() -> None:
    x, a = xp.reshape(xp.arange(12), (4, 3)), np.arange(12).reshape(4, 3)
    rng, theirs = default_rng(1), np.random.default_rng(1)
    for axis in (0, 1):
        assert rng.shuffle(x, axis=axis) is None
        theirs.shuffle(a, axis=axis)
        assert np.array_equal(np.asarray(x), a)
    items, expected = list("abcdef"), list("abcdef")
    rng.shuffle(items)
    theirs.shuffle(expected)
    assert items == expected
    found = xp.zeros((4, 3), dtype=xp.int64)
    assert rng.permuted(x, axis=0, out=found) is found
    assert np.array_equal(np.asarray(found), theirs.permuted(a, axis=0))


def test_deferred_results_read_what_was_there_before() -> None:
    x = xp.ones((1000,))
    with xp.fused():
        y = x * 2.0
        default_rng(1).random(out=x)
        z = x * 1.0
    assert bool(xp.all(y == 2.0))
    assert np.array_equal(np.asarray(z), np.random.default_rng(1).random(1000))


def test_a_seed_that_contains_itself_is_refused() -> None:
    """NumPy before 2.5 crashes for deeply nested seeds; NumPy 2.5 refuses all nested seeds."""
    seed: list[Any] = [1]
    seed += [seed, seed]
    for value in (seed, (0, seed)):
        with pytest.raises(xp.ArgumentValueError, match="nested too deeply"):
            default_rng(value)
    nested = [[1, 2], (3,)]
    try:
        expected = np.random.default_rng(nested).random()
    except TypeError:
        with pytest.raises(TypeError, match="nested"):
            default_rng(nested)
    else:
        assert default_rng(nested).random() == expected


def test_seeds_and_generators() -> None:
    first = default_rng(7)
    assert default_rng(first) is first
    for seed in (
        np.random.SeedSequence(7),
        np.random.PCG64(7),
        np.random.default_rng(7),
        xp.asarray(7),
        np.int64(7),
    ):
        assert float(default_rng(seed).random()) == np.random.default_rng(7).random()
    sequence = xp.asarray([1, 2, 3])
    assert float(default_rng(sequence).random()) == np.random.default_rng([1, 2, 3]).random()
    for name in ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64"):
        rng = Generator(getattr(xp.random, name)(3))
        assert repr(rng) == f"Generator({name})"
        assert float(rng.random()) == np.random.Generator(getattr(np.random, name)(3)).random()
    assert float(default_rng().random()) != float(default_rng().random())
    assert xp.random.SeedSequence is np.random.SeedSequence
    assert "PCG64" in dir(xp.random)


def test_spawned_generators() -> None:
    found, expected = default_rng(5).spawn(3), np.random.default_rng(5).spawn(3)
    assert all(type(rng) is Generator for rng in found)
    for rng, theirs in zip(found, expected, strict=True):
        assert np.array_equal(np.asarray(rng.random(4)), theirs.random(4))


@pytest.mark.parametrize("copied", [lambda rng: pickle.loads(pickle.dumps(rng)), copy.deepcopy])
def test_a_copy_goes_on_by_itself(copied: Any) -> None:
    rng = default_rng(3)
    rng.standard_normal(5)
    other = copied(rng)
    assert np.array_equal(np.asarray(rng.random(4)), np.asarray(other.random(4)))
    rng.random()
    assert float(rng.random()) != float(other.random())


def test_threads_share_a_generator() -> None:
    rng, found = default_rng(11), []

    def draw() -> None:
        for _ in range(50):
            found.append(np.asarray(rng.random(10)))

    threads = [threading.Thread(target=draw) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # Each number of the stream was drawn exactly once.
    drawn = np.sort(np.concatenate(found))
    assert np.array_equal(drawn, np.sort(np.random.default_rng(11).random(2000)))


def test_gradients_go_through_the_parameters_outside() -> None:
    def loss(loc: Any, scale: Any) -> Any:
        return xp.sum((loc + scale * default_rng(1).standard_normal(5)) ** 2)

    by_loc = xp.autograd.grad(loss)(xp.asarray(2.0), xp.asarray(3.0))
    draws = np.random.default_rng(1).standard_normal(5)
    np.testing.assert_allclose(float(by_loc), np.sum(2 * (2 + 3 * draws)), rtol=1e-14)
    with pytest.raises(xp.GradientError):
        xp.autograd.grad(lambda loc: xp.sum(default_rng(1).normal(loc, 1.0, 5)))(xp.asarray(2.0))


@pytest.mark.parametrize("write", ["out", "shuffle", "permuted"])
def test_tapes_see_what_is_written(write: str) -> None:
    """The gradient uses the values from which the product was computed."""
    w, x = xp.asarray([1.0, 2.0, 3.0]), xp.asarray([4.0, 5.0, 6.0])
    with xp.autograd.Tape() as tape:
        x = tape.watch(x)
        y = xp.sum(x * w)
        rng = default_rng(0)
        if write == "out":
            rng.random(out=w)
        elif write == "shuffle":
            rng.shuffle(w)
        else:
            rng.permuted(w, out=w)
    assert np.array_equal(np.asarray(tape.gradient(y, x)), [1.0, 2.0, 3.0])
    assert not np.array_equal(np.asarray(w), [1.0, 2.0, 3.0])


def test_a_view_in_any_order_is_written_to() -> None:
    x = xp.zeros((4, 3))
    default_rng(1).random(out=x.T[::2])
    assert np.array_equal(np.asarray(x.T[::2]), np.random.default_rng(1).random((2, 4)))
    assert float(xp.sum(xp.abs(x[:, 1]))) == 0.0


@pytest.mark.parametrize("name", ["random", "standard_normal", "standard_exponential", "standard_gamma"])
def test_out_is_the_memory_that_is_filled(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any) -> None:
        raise AssertionError("an array is allocated")

    given = (2.0,) if name == "standard_gamma" else ()
    x, view = xp.zeros((4, 3)), xp.zeros((8, 3))[2:6]
    monkeypatch.setattr(sys.modules[Generator.__module__], "empty", refuse)
    for out in (x, view):
        assert getattr(default_rng(1), name)(*given, out=out) is out
        expected = getattr(np.random.default_rng(1), name)(*given, size=(4, 3))
        assert np.array_equal(np.asarray(out), expected)
    with pytest.raises(AssertionError, match="allocated"):
        getattr(default_rng(1), name)(*given, out=x.T)


CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "readonly": {"writable": False},
    "devices": {"devices": ("gpu", "cpu")},
    "lazy": {"lazy": True},
    "copies": {"views": False},
    "float32": {"float64": False},
    "no-x64": {"float64": False, "int64": False},
}


@pytest.mark.parametrize("settings", CONFIGURATIONS.values(), ids=CONFIGURATIONS)
def test_test_configurations(settings: dict[str, Any]) -> None:
    """Draws have the default dtypes and the default device, as results of functions have."""
    rng, theirs, wide = default_rng(1), np.random.default_rng(1), xp.asarray([1.0, 2.0])
    with flags(**settings):
        drawn = [
            rng.random(2),
            rng.normal(xp.zeros(2), 1.0),
            rng.standard_normal((2,)),
            rng.integers(0, 9, 2),
        ]
        double = xp.zeros(1).dtype
        assert [x.device for x in drawn] == [xp.zeros(1).device] * 4
    assert [x.dtype for x in drawn[:3]] == [double] * 3
    assert drawn[3].dtype == (xp.int32 if "int64" in settings else xp.int64)
    expected = [
        theirs.random(2),
        theirs.normal(0.0, 1.0, 2),
        theirs.standard_normal(2),
        theirs.integers(0, 9, 2),
    ]
    for x, y in zip(drawn, expected, strict=True):
        np.testing.assert_allclose(x.to_device(xp.Device("cpu")), y, rtol=1e-6)
    with flags(**settings):
        if settings == {"writable": False}:
            for write in (rng.shuffle, lambda x: rng.random(out=x), lambda x: rng.permuted(x, out=x)):
                with pytest.raises(xp.WriteError, match="read-only in this test configuration"):
                    write(wide)
        else:
            rng.shuffle(xp.asarray([1.0, 2.0]))
    assert wide.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda rng: rng.normal(0.0, -1.0), ValueError),
        (lambda rng: rng.integers(5, 2), ValueError),
        (lambda rng: rng.random((2, -1)), ValueError),
        (lambda rng: rng.random(3, dtype=xp.int64), TypeError),
        (lambda rng: rng.random(3, dtype="no dtype"), xp.DTypeError),
        (lambda rng: rng.random(2, out=xp.zeros(3)), xp.ShapeError),
        (lambda rng: rng.permuted(xp.zeros(2), out=xp.zeros(3)), xp.ShapeError),
        (lambda rng: rng.permuted(xp.zeros(2), out=xp.zeros(2, dtype=xp.int64)), xp.DTypeError),
        (lambda rng: rng.random(dtype=xp.float32, out=xp.zeros(3)), TypeError),
        (lambda rng: rng.random(out=np.zeros(3)), xp.ArgumentTypeError),
        (lambda rng: rng.random(out=xp.broadcast_to(xp.zeros(1), (3,))), xp.WriteError),
        (lambda rng: rng.shuffle(xp.broadcast_to(xp.zeros(1), (3,))), xp.WriteError),
        (lambda rng: rng.choice(3, 4, replace=False), ValueError),
        (lambda rng: rng.no_distribution(), AttributeError),
        (lambda rng: default_rng(-1), ValueError),
        (lambda rng: default_rng("seed"), TypeError),
        (lambda rng: Generator(3), AttributeError),
        (lambda rng: xp.random.rand, AttributeError),
    ],
)
def test_errors(call: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        call(default_rng(1))


def test_strict_mode_refuses_it() -> None:
    rng = default_rng(1)
    with xp.strict():
        with pytest.raises(xp.StrictError, match=r"random\.default_rng"):
            default_rng(1)
        with pytest.raises(xp.StrictError, match=r"random\.normal: the function is called"):
            rng.normal(0.0, 1.0, 3)
