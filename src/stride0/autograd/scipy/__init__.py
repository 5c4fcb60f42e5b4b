"""Differentiable forms of functions that SciPy computes with NumPy only.

Modules and parameters have SciPy's names, and SciPy's documentation describes them. A docstring says what
differs, and with respect to which arguments a function is differentiable. Each function takes arrays, tracked
or not, and returns new arrays. A call that a function does not support raises an error. SciPy is imported
when a function needs it; the functions are those of SciPy 1.17. SciPy functions that compute with the array
namespace, such as `scipy.signal.fftconvolve` and `scipy.integrate.trapezoid`, have gradients already and no
counterpart here.

Examples
--------
The module of each part of SciPy has one in its docstring; this one is of `signal`:

>>> from stride0.autograd.scipy import signal
>>> b, a, x = xp.asarray([1.0]), xp.asarray([1.0, -0.5]), xp.ones(3)
>>> xp.autograd.grad(lambda a: xp.sum(signal.lfilter(b, a, x)))(a)
Array([-5.75, -3.  ], dtype=float64)
"""

from collections.abc import Sequence
from typing import Any

from stride0._base.callers import FORMS as _FORMS
from stride0.autograd.scipy import (
    cluster,
    fft,
    integrate,
    interpolate,
    linalg,
    ndimage,
    optimize,
    signal,
    sparse,
    spatial,
    stats,
)
from stride0.autograd.scipy._distributions import DISTRIBUTIONS as _DISTRIBUTIONS
from stride0.autograd.scipy._families import FAMILIES as _FAMILIES
from stride0.autograd.scipy._patch import patch, patched, unpatch

# Functions in objects or submodules of SciPy modules: `scipy.stats.norm.pdf`.
_PARTS: dict[str, dict[str, Any]] = {
    "cluster": {"vq": cluster.vq, "hierarchy": cluster.hierarchy},
    "sparse": {"linalg": sparse.linalg},
    "spatial": {"distance": spatial.distance},
    "stats": {**_DISTRIBUTIONS, **_FAMILIES},
}


def _enter(name: str, names: Sequence[str], inner: dict[str, Any]) -> None:
    for each in names:
        if each in inner:
            _enter(f"{name}.{each}", inner[each].__all__, {})
        else:
            _FORMS[f"{name}.{each}"] = f"stride0.autograd.scipy.{name}.{each}"


for _module in (
    *(cluster, fft, integrate, interpolate, linalg, ndimage, optimize, signal, sparse, spatial, stats),
):
    _name = _module.__name__.rpartition(".")[2]
    _enter(_name, _module.__all__, _PARTS.get(_name, {}))

__all__ = [
    "cluster",
    "fft",
    "integrate",
    "interpolate",
    "linalg",
    "ndimage",
    "optimize",
    "patch",
    "patched",
    "signal",
    "sparse",
    "spatial",
    "stats",
    "unpatch",
]
