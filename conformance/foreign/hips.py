"""stride0 in place of HIPS/autograd, for the test-suite of its sdist.

`install` replaces the package by `stride0.autograd.hips` and the modules below; `foreign_plugin.py`
calls it. `autograd.test_util` is the original, which compares with finite differences, by the vector spaces
that `VSpace` stands for. Tests of reverse mode check forward mode, too.
"""

from __future__ import annotations

import importlib
import math
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import stride0 as xp
import stride0.numpy
from stride0.autograd import hips, scipy, stop_gradient
from stride0.autograd._tape.tape import is_tracked
from stride0.autograd._tape.trees import flatten
from stride0.autograd.hips._operators import arrays, conjugate, is_complex, make_jvp, make_vjp


class VSpace:
    """The vector space of a value: structure, shapes and dtypes."""

    def __init__(self, value: Any) -> None:
        leaves, self.structure = flatten(arrays(value))
        self.leaves = [x for x in leaves if isinstance(x, xp.Array)]
        if len(self.leaves) < len(leaves):
            raise TypeError(f"no vector space of {value!r}")
        self.facts = [(x.shape, x.dtype) for x in self.leaves]
        self.size = sum(x.size * (1 + is_complex(x)) for x in self.leaves)
        self.iscomplex = is_complex(self.leaves)
        self.shape: tuple[int, ...]
        self.dtype: Any
        self.shape, self.dtype = self.facts[0] if len(self.facts) == 1 else ((), None)
        self.ndim = len(self.shape)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, VSpace) and self.facts == other.facts

    __hash__ = None  # type: ignore[assignment]

    def _of(self, *values: Any) -> list[tuple[Any, ...]]:
        return list(zip(*(flatten(arrays(value))[0] for value in values), strict=True))

    def _random(self, shape: tuple[int, ...], dtype: Any) -> Any:
        found = np.random.randn(*shape)
        if dtype.kind == "complex floating":
            found = found + 1j * np.random.randn(*shape)
        return xp.astype(xp.asarray(found), dtype)

    def zeros(self) -> Any:
        return self.structure.rebuild([xp.zeros_like(x) for x in self.leaves])

    def ones(self) -> Any:
        return self.structure.rebuild([xp.ones_like(x) for x in self.leaves])

    def randn(self) -> Any:
        return self.structure.rebuild([self._random(*fact) for fact in self.facts])

    def add(self, x: Any, y: Any) -> Any:
        return self.structure.rebuild([a + b for a, b in self._of(x, y)])

    def scalar_mul(self, x: Any, a: Any) -> Any:
        return self.structure.rebuild([b * a for (b,) in self._of(x)])

    def inner_prod(self, x: Any, y: Any) -> float:
        return math.fsum(float(xp.sum(xp.real(xp.conj(a) * b))) for a, b in self._of(x, y))

    def covector(self, x: Any) -> Any:
        return conjugate(x)


class Random(ModuleType):
    """`numpy.random`, whose functions return arrays of stride0."""

    def __getattr__(self, name: str) -> Any:
        found = getattr(np.random, name)
        if isinstance(found, type):
            return lambda *args: Generator(found(*args))
        return lambda *args, **kwargs: arrays(found(*args, **kwargs))


class Generator:
    """A generator whose methods return arrays of stride0."""

    def __init__(self, generator: Any) -> None:
        self._generator = generator

    def __getattr__(self, name: str) -> Any:
        return lambda *args, **kwargs: arrays(getattr(self._generator, name)(*args, **kwargs))


def module(name: str, **values: Any) -> ModuleType:
    """Return a new module under a name of autograd, with values."""
    made = ModuleType(f"autograd.{name}")
    vars(made).update({key: value for key, value in values.items() if not key.startswith("__")})
    return made


def install(folder: Path) -> None:
    """Replace the package in a folder by stride0; other modules are read from the folder."""
    root: Any = ModuleType("autograd")
    root.__path__ = [str(folder)]
    vars(root).update({name: value for name, value in vars(hips).items() if not name.startswith("_")})
    # With helpers of autograd that its tests use.
    wrapped = module(
        "numpy", **vars(stride0.numpy), make_diagonal=lambda x, **_: x[..., None] * xp.eye(x.shape[-1])
    )
    linalg = module("numpy.linalg", **vars(stride0.numpy.linalg), T=xp.matrix_transpose, _dot=xp.matmul)
    primitive, vspace = hips.primitive, VSpace
    forms = {name: getattr(scipy, name) for name in scipy.__all__}
    stats = module("scipy.stats", **{name: getattr(scipy.stats, name) for name in scipy.stats.__all__})
    # Its tests draw numbers from it at import.
    vars(stats.dirichlet)["rvs"] = lambda alpha, size: arrays(np.random.dirichlet(np.asarray(alpha), size))
    forms["stats"] = stats
    modules = {
        "": root,
        "numpy": wrapped,
        "numpy.random": Random("autograd.numpy.random"),
        "numpy.linalg": linalg,
        "numpy.fft": stride0.numpy.fft,
        "core": module(
            "core",
            primitive=primitive,
            vspace=vspace,
            VSpace=VSpace,
            make_vjp=lambda fun, x: make_vjp(fun)(x),
            make_jvp=lambda fun, x: make_jvp(fun)(x),
            primitive_vjps={},
        ),
        "tracer": module("tracer", primitive=primitive, isbox=is_box, getval=stop_gradient),
        "extend": module(
            "extend", primitive=primitive, vspace=vspace, defvjp=hips.defvjp, defjvp=hips.defjvp
        ),
        "builtins": hips.builtins,
        "misc": module("misc", flatten=hips.misc.flatten, const_graph=missing),
        "misc.optimizers": hips.misc.optimizers,
        "misc.fixed_points": hips.misc.fixed_points,
        "scipy": module("scipy", **forms, special=xp.special),
        "scipy.special": xp.special,
        **{f"scipy.{name}": form for name, form in forms.items()},
        "scipy.stats.multivariate_normal": vars(stats)["multivariate_normal"],
    }
    for name, found in modules.items():
        sys.modules[f"autograd.{name}".rstrip(".")] = found
        parent, _, last = name.rpartition(".")
        if name and modules[parent].__name__.startswith("autograd"):
            setattr(modules[parent], last, found)
    util: Any = importlib.import_module("autograd.test_util")
    original = util.check_grads

    def check_grads(f: Any, argnum: Any = 0, modes: Any = ("fwd", "rev"), order: int = 2) -> Any:
        def check(*args: Any, **kwargs: Any) -> None:
            for chosen in (modes, ["fwd", "rev"]) if list(modes) == ["rev"] else (modes,):
                original(f, argnum, list(chosen), order=order)(*args, **kwargs)

        return check

    util.check_grads = check_grads


def missing(*args: Any, **kwargs: Any) -> Any:
    raise NotImplementedError("stride0 has no such function")


def is_box(x: Any) -> bool:
    return isinstance(x, xp.Array) and is_tracked(x)
