"""A valid call of every public function, for tests that replace one argument."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterator
from typing import Any

import stride0 as xp

Parameters = list[inspect.Parameter]

MATRIX = xp.asarray([[4.0, 1.0, 2.0], [1.0, 5.0, 3.0], [2.0, 3.0, 6.0]])
VECTOR = xp.asarray([0.5, 0.25, 0.75])
INTEGERS = xp.asarray([0, 2, 1])
BOOLS = xp.asarray([True, False, True])
MODULES = ("", "autograd", "fft", "linalg", "memory", "optim", "special", "strided", "testing")
# They change state of the whole process, or are containers that check nothing.
LEFT_OUT = {
    *(
        "Array",
        "DType",
        "autograd.LinearMap",
        "autograd.SparsePlan",
        "autograd.Tape",
        "linalg.LstsqResult",
        "memory.empty_cache",
        "optim.Minimum",
    ),
    *(
        "optim.Optimizer",
        "set_num_threads",
        "memory.set_limit",
        "testing.as_array_api_strict",
        "testing.flags",
    ),
}


def squares(x: xp.Array, *others: Any) -> xp.Array:
    return xp.sum(x * x)


# By the name of the parameter.
ARGUMENTS: dict[str, Any] = {
    **dict.fromkeys(("x", "x1", "x2", "operands"), MATRIX),
    **dict.fromkeys(
        ("a", "b", "beta", "c", "df", "dfd", "dfn", "fp", "h", "m", "p", "t", "v", "y", "z"), VECTOR
    ),
    **dict.fromkeys(("parameters", "updates"), VECTOR),
    **dict.fromkeys(
        ("include_initial", "density", "bias", "descending", "guard", "has_aux", "keepdims"), False
    ),
    **dict.fromkeys(("equal_nan", "invert", "nesterov", "reset_peak", "return_sign", "upper"), False),
    **dict.fromkeys(("unit_diagonal",), False),
    **dict.fromkeys(("endpoint", "full_matrices", "on", "rowvar", "stable"), True),
    **dict.fromkeys(
        ("append", "aweights", "copy", "device", "fweights", "neginf", "options", "period"), None
    ),
    **dict.fromkeys(("posinf", "prepend", "rcond", "sorter", "weights"), None),
    **dict.fromkeys(("argnums", "axis", "constant_values", "correction", "ddof", "in_axes", "key"), 0),
    **dict.fromkeys(("minlength", "offset", "out_axes", "seed", "source", "start"), 0),
    **dict.fromkeys(("alpha", "destination", "k", "kth", "order", "pad_width", "shift", "step"), 1),
    **dict.fromkeys(("n", "n_cols", "n_rows", "num", "stop"), 3),
    **dict.fromkeys(("dtype", "to", "type"), xp.float64),
    **dict.fromkeys(("atol", "rtol", "eps", "tol"), 1e-5),
    **dict.fromkeys(("b1", "b2", "learning_rate", "momentum", "q"), 0.5),
    **dict.fromkeys(("args", "d", "fill_value", "max", "right", "values"), 1.0),
    **dict.fromkeys(("left", "min", "nan"), 0.0),
    **dict.fromkeys(("arrays_or_shapes", "s", "shape", "shapes"), (3, 3)),
    **dict.fromkeys(("vs", "xs"), (VECTOR,)),
    **dict.fromkeys(("exempt", "nondiff_argnums", "static"), ()),
    "arrays": [VECTOR, VECTOR],
    "arrays_and_dtypes": xp.float32,
    "axes": (0, 1),
    "base": 10.0,
    "body": squares,
    "bins": 4,
    "condition": BOOLS,
    "f": squares,
    "from_": xp.float32,
    "indexing": "xy",
    "indices": INTEGERS,
    "kind": "numeric",
    "method": "linear",
    "mode": "constant",
    "modules": ("a",),
    "name": "cpu",
    "norm": "backward",
    "obj": [1.0],
    "op": None,
    "optimize": "auto",
    "ord": 2,
    "primals": (VECTOR,),
    "range": (0.0, 1.0),
    "repeats": 2,
    "repetitions": (1, 2),
    "series": ((VECTOR,),),
    "replay": False,
    "snapshots": 2,
    "state": VECTOR,
    "side": "left",
    "sparsity": None,
    "size": 5,
    "strides": (1, 1),
    "subscripts": "ij->i",
    "xp": xp.asarray([0.0, 0.5, 1.0]),
}
SPECIAL: dict[str, Any] = dict.fromkeys(("d", "k", "n", "s", "x", "x1", "x2"), VECTOR)


def each(*names: str, **arguments: Any) -> dict[str, dict[str, Any]]:
    return {name: arguments for name in names}


# By the name of the function, where the parameter's name does not determine the argument.
OF_FUNCTION: dict[str, dict[str, Any]] = {
    **each("bitwise_and", "bitwise_or", "bitwise_xor", x1=INTEGERS, x2=INTEGERS),
    **each("bitwise_left_shift", "bitwise_right_shift", x1=INTEGERS, x2=INTEGERS),
    **each("bitwise_invert", "bincount", x=INTEGERS),
    **each("logical_and", "logical_or", "logical_xor", x1=BOOLS, x2=BOOLS),
    **each("fft.hfft", "fft.irfft", "fft.irfftn", "imag", x=MATRIX * (1 + 0j)),
    **each("linalg.cross", "linalg.vecdot", "vecdot", axis=-1),
    **each("linalg.tensordot", "tensordot", axes=1),
    **each("broadcast_arrays", "meshgrid", arrays=VECTOR),
    **each("autograd.linearize", "autograd.vjp", "testing.check_grad", xs=VECTOR),
    **each("autograd.jacobian", "autograd.value_and_jacobian", "autograd.sparse_jacobian", mode="auto"),
    **each("autograd.jacobian_sparsity", "autograd.hessian_sparsity", args=VECTOR),
    "autograd.checkpoint_loop": {"step": xp.cos, "n": 3},
    "loop": {"body": lambda k, y: 0.5 * y},
    "scan": {"body": lambda s, x: (s + x, x), "xs": VECTOR, "state": 0.0},
    "autograd.derivatives": {"f": xp.exp},
    "autograd.sparse_plan": {"args": VECTOR, "mode": "auto"},
    **each("autograd.hvp", "autograd.vhp", x=VECTOR, argnums=None),
    "autograd.linear_transpose": {"f": xp.negative, "xs": VECTOR},
    **each("astype", "nan_to_num", copy=True),
    **each("cov", "corrcoef", y=None),
    **each("special.eval_hermite", "special.eval_hermitenorm", n=INTEGERS),
    **each("special.spherical_in", "special.spherical_jn", n=INTEGERS),
    **each("special.spherical_kn", "special.spherical_yn", n=INTEGERS),
    "logical_not": {"x": BOOLS},
    "broadcasting": {"mode": "exact"},
    "histogram": {"x": VECTOR},
    "iinfo": {"type": xp.int64},
    "interp": {"x": VECTOR},
    "linalg.matrix_norm": {"ord": "fro"},
    "linalg.outer": {"x1": VECTOR, "x2": VECTOR},
    "linalg.qr": {"mode": "reduced"},
    "put_along_axis": {"x": VECTOR},
    "searchsorted": {"x1": xp.asarray([0.0, 0.5, 1.0]), "x2": VECTOR},
    "special.lambertw": {"k": 0},
    "special.logsumexp": {"b": None},
    "special.multigammaln": {"a": VECTOR + 3.0, "d": 2},
    "squeeze": {"x": MATRIX[:1, :]},
    "strict": {"modules": None},
    "strided.shares_storage": {"y": MATRIX},
    "take_along_axis": {"x": VECTOR},
    "top_k": {"mode": "largest"},
}


def public_functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield each function with its name, prefixed with the name of its extension."""
    for module in MODULES:
        owner = getattr(xp, module) if module else xp
        for short in sorted(set(owner.__all__)):
            name, function = f"{module}.{short}" if module else short, getattr(owner, short)
            is_function = callable(function) and not isinstance(function, (types.ModuleType, xp.DType))
            is_error = isinstance(function, type) and issubclass(function, BaseException)
            if is_function and not is_error and not short.startswith("__") and name not in LEFT_OUT:
                yield name, function


def parameters_of(function: Callable[..., Any]) -> Parameters:
    found = inspect.signature(function).parameters.values()
    return [parameter for parameter in found if parameter.kind is not parameter.VAR_KEYWORD]


def valid(name: str, parameter: str) -> Any:
    special = SPECIAL if name.startswith("special.") else {}
    return OF_FUNCTION.get(name, {}).get(parameter, special.get(parameter, ARGUMENTS[parameter]))


def call(name: str, function: Callable[..., Any], replaced: str = "", value: object = None) -> Any:
    """Call a function with valid arguments, one of them replaced."""
    positional, named = [], {}
    for parameter in parameters_of(function):
        given = value if parameter.name == replaced else valid(name, parameter.name)
        # A function may write to its arguments.
        given = xp.asarray(given, copy=True) if isinstance(given, xp.Array) else given
        if parameter.kind is parameter.KEYWORD_ONLY:
            named[parameter.name] = given
        else:
            positional.append(given)
    return function(*positional, **named)
