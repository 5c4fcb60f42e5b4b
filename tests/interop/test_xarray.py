"""xarray objects that hold stride0 arrays: the same programs as with NumPy arrays, the same results.

Each program runs on a DataArray of either library. The results must be equal in values, dtype, dimensions and
coordinates, and must still hold stride0 arrays: xarray silently falls back to NumPy if a namespace lacks a
function. Features that xarray has only for NumPy arrays are listed; a test fails when it supports more.
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stride0 as xp

pytest.importorskip("pandas", reason="xarray needs pandas")
xr = pytest.importorskip("xarray", reason="the tests of xarray need it: pip install xarray")

Program = Callable[[Any, Any], Any]  # of the namespace and a DataArray

FLOATS = np.arange(24.0).reshape(4, 6) * 0.75 - 3
FLOATS[1, 2] = FLOATS[3, 0] = np.nan
INTEGERS = np.arange(24).reshape(4, 6) * 5 % 13


def array(ns: Any, values: Any = FLOATS) -> Any:
    """A DataArray named t with an index on each axis, and a coordinate that groups the first."""
    data = xp.asarray(values, copy=True) if ns is xp else np.array(values)
    coordinates = {"x": np.arange(4) * 10, "y": list("abcdef"), "g": ("x", ["p", "q", "p", "q"])}
    return xr.DataArray(data, dims=("x", "y"), coords=coordinates, name="t")


def dataset(ns: Any, d: Any) -> Any:
    return d.to_dataset().assign(u=d * 2, n=array(ns, INTEGERS))


def written(d: Any) -> Any:
    """A copy after writes by position, label, mask and array."""
    d = d.copy()
    d[{"x": 1}] = 7.0
    d.loc[{"y": "b"}] = d.loc[{"y": "c"}]
    d.loc[10:20, "d"] = -1.0
    d[{"x": np.array([True, False, False, True]), "y": 5}] = 0.5
    return d


def in_place(d: Any) -> Any:
    d = d.copy()
    d += 1
    d *= d
    d -= d.isel(x=0)
    return d


ARITHMETIC: dict[str, Program] = {
    "arrays": lambda ns, d: d + d * d - d / 3,
    "scalars on the right": lambda ns, d: (d * 2 + 1) % 3 // 0.5,
    "scalars on the left": lambda ns, d: 2.0 ** (1 - d),
    "NumPy's scalars on the left": lambda ns, d: np.float64(2) * d - (np.float32(1) > d),
    "dot along a common axis": lambda ns, d: xr.dot(d.fillna(0.0), d.fillna(2.0), dim="y"),
    "NumPy's ufuncs": lambda ns, d: np.sqrt(abs(d)) + np.arctan2(d, 2.0) + np.isnan(d),
    "round to places": lambda ns, d: d.round(1),
    "NumPy's scalars": lambda ns, d: d * np.float64(2) + np.float64(1),
    "unary": lambda ns, d: abs(-d) + (+d),
    "compared": lambda ns, d: (d > 3) & (d < 9) | ~(d != 4.5),
    "in place": lambda ns, d: in_place(d),
    "broadcast by name": lambda ns, d: d.isel(y=0) * d.isel(x=0),
    "anomalies": lambda ns, d: d - d.mean("x"),
    "standardised": lambda ns, d: (d - d.mean()) / d.std(),
    "conj, real, imag": lambda ns, d: d.conj().real + d.imag,
    "round": lambda ns, d: d.round(),
    "clip": lambda ns, d: d.clip(-1, 9).clip(min=0.5),
    "astype by dtype": lambda ns, d: d.astype(ns.float32),
    "astype by name": lambda ns, d: d.astype("float32"),
    "xarray's ufuncs": lambda ns, d: xr.ufuncs.hypot(xr.ufuncs.sin(d), d),
    "functions applied": lambda ns, d: xr.apply_ufunc(ns.maximum, d, -d),
    "matrix product": lambda ns, d: d.fillna(0.0) @ d.fillna(1.0).rename(x="u"),
    "dot": lambda ns, d: xr.dot(d.fillna(0.0), d.fillna(1.0).rename(x="u"), dim="y"),
    "dot over all": lambda ns, d: xr.dot(d, d),
    "core dimensions": lambda ns, d: xr.apply_ufunc(
        lambda v, w: ns.matmul(v, ns.matrix_transpose(w)),
        d.fillna(0.0),
        d.fillna(1.0).rename(x="u"),
        input_core_dims=[["x", "y"], ["u", "y"]],
        output_core_dims=[["x", "u"]],
    ),
    "dot with a mask": lambda ns, d: xr.dot(d.fillna(0.0), (d > 3).rename(x="u"), dim="y"),
    "difference": lambda ns, d: d.diff("x", n=2),
    "integral": lambda ns, d: d.integrate("x"),
}

ALIGNMENT: dict[str, Program] = {
    "inner join of operands": lambda ns, d: d + d.isel(x=slice(1, 3)),
    "operands in another order": lambda ns, d: d.isel(x=slice(None, None, -1)) - d,
    "align, inner": lambda ns, d: xr.align(d, d.isel(x=[0, 2]), join="inner")[0],
    "align, outer": lambda ns, d: xr.align(d, d.isel(x=[0, 1]), join="outer", fill_value=-1.0)[1],
    "reindex": lambda ns, d: d.reindex(x=[20, 0]),
    "reindex with gaps": lambda ns, d: d.reindex(x=[0, 10, 25], fill_value=0.0),
    "reindex to the nearest": lambda ns, d: d.reindex(x=[1, 19], method="nearest"),
    "reindex like": lambda ns, d: d.reindex_like(d.isel(x=[2, 0])),
    "broadcast": lambda ns, d: xr.broadcast(d, d.isel(y=0))[1],
    "broadcast like": lambda ns, d: d.isel(y=0).broadcast_like(d),
    "concat": lambda ns, d: xr.concat([d, d.assign_coords(x=[50, 60, 70, 80])], "x"),
    "concat on a new axis": lambda ns, d: xr.concat([d, d + 1], "n"),
    "concat with a join": lambda ns, d: xr.concat([d, d.isel(y=[0, 1])], "x", join="inner"),
    "combine first": lambda ns, d: d.combine_first(d * 0 + 1),
    "merge": lambda ns, d: xr.merge([d, (d * 2).rename("u")]),
    "assign coordinates": lambda ns, d: d.assign_coords(x=[1, 2, 3, 4]),
    "array as a coordinate": lambda ns, d: (d.assign_coords(h=("x", d.isel(y=1).data)) * 2).h,
    "swap dimensions": lambda ns, d: d.swap_dims(x="g"),
}

INDEXING: dict[str, Program] = {
    "integer": lambda ns, d: d.isel(x=1),
    "slices": lambda ns, d: d.isel(x=slice(1, 3), y=slice(None, None, -2)),
    "lists": lambda ns, d: d.isel(x=[0, 2], y=[1, 3, 3]),
    "labels": lambda ns, d: d.sel(x=20, y=["a", "c"]),
    "label ranges": lambda ns, d: d.loc[10:20, "b":"e"],
    "nearest": lambda ns, d: d.sel(x=[1, 19], method="nearest"),
    "ellipsis": lambda ns, d: d[..., 0],
    "mask": lambda ns, d: d.sel(x=d.x > 5),
    "named array": lambda ns, d: d.isel(x=xr.DataArray([2, 0], dims="k")),
    "by an array of the same library": lambda ns, d: d.isel(x=ns.asarray([2, 0])),
    "drop": lambda ns, d: d.drop_sel(y="b").drop_isel(x=[0]),
    "dropna": lambda ns, d: d.dropna("x"),
    "head, tail, thin": lambda ns, d: d.head(x=3).tail(y=4).thin(y=2),
    "written to": lambda ns, d: written(d),
}

SHAPES: dict[str, Program] = {
    "T": lambda ns, d: d.T,
    "transpose": lambda ns, d: d.transpose("y", "x"),
    "transpose the rest": lambda ns, d: d.transpose(..., "x"),
    "expand": lambda ns, d: d.expand_dims({"n": 3}, axis=1),
    "squeeze": lambda ns, d: d.isel(x=[1]).squeeze("x"),
    "stack": lambda ns, d: d.stack(z=("x", "y")),
    "unstack": lambda ns, d: d.stack(z=("x", "y")).unstack("z"),
    "roll": lambda ns, d: d.roll(x=1, roll_coords=True),
    "pad": lambda ns, d: d.pad(x=1, y=(0, 2), constant_values=0.0),
    "shift": lambda ns, d: d.shift(x=1, fill_value=-1.0),
    "sort": lambda ns, d: d.sortby("y", ascending=False),
    "rename": lambda ns, d: d.rename(x="u"),
    "copies": lambda ns, d: copy.deepcopy(copy.copy(d.copy())),
    "pickle": lambda ns, d: pickle.loads(pickle.dumps(d)),
    "filled": lambda ns, d: xr.full_like(d, 2.5) + xr.zeros_like(d) + xr.ones_like(d),
    "coarsen, taken apart": lambda ns, d: d.drop_vars("g").coarsen(x=2).construct(x=("a", "b")),
}

WHERE: dict[str, Program] = {
    "method": lambda ns, d: d.where(d > 3, -1.0),
    "method, integers": lambda ns, d: (n := array(ns, INTEGERS)).where(n > 3, 0),
    "method, array": lambda ns, d: d.where(d > 3, xr.zeros_like(d)),
    "function": lambda ns, d: xr.where(d > 3, d, -d),
    "function, scalars": lambda ns, d: xr.where(d > 3, 1, 0),
    "fillna": lambda ns, d: d.fillna(0.0),
    "fillna, array": lambda ns, d: d.fillna(d.isel(x=0)),
    "isnull, notnull": lambda ns, d: d.isnull() | ~d.notnull(),
    "isin": lambda ns, d: d.isin(ns.asarray([0.0, 1.5])),
    "count": lambda ns, d: d.count("x"),
}

GROUPS: dict[str, Program] = {
    "sum": lambda ns, d: d.groupby("g").sum(),
    "mean": lambda ns, d: d.groupby("g").mean(),
    "mean with NaN": lambda ns, d: d.groupby("g").mean(skipna=False),
    "first": lambda ns, d: d.groupby("g").first(),
    "last": lambda ns, d: d.groupby("g").last(),
    "largest": lambda ns, d: d.groupby("g").max(skipna=False),
    "any": lambda ns, d: (d > 3).groupby("g").any(),
    "count": lambda ns, d: d.groupby("g").count(),
    "bins": lambda ns, d: d.groupby_bins("x", [-1, 15, 40]).sum(),
    "map": lambda ns, d: d.groupby("g").map(lambda group: group - group.sum("x")),
    "arithmetic": lambda ns, d: d.groupby("g") - d.groupby("g").mean(),
    "coarsen": lambda ns, d: d.drop_vars("g").coarsen(x=2).sum(),
    "resample": lambda ns, d: (
        d.assign_coords(x=np.array(["2020-01-01", "2020-01-02", "2020-02-01", "2020-02-02"], dtype="M8[ns]"))
        .resample(x="1MS")
        .sum()
    ),
}

DATASETS: dict[str, Program] = {
    "arithmetic": lambda ns, d: dataset(ns, d) * 2 + dataset(ns, d),
    "reduced": lambda ns, d: dataset(ns, d).mean("x"),
    "assign": lambda ns, d: dataset(ns, d).assign(v=lambda whole: whole.t + whole.n),
    "where": lambda ns, d: dataset(ns, d).where(d > 2, 0),
    "grouped": lambda ns, d: dataset(ns, d).groupby("g").sum(),
    "merge": lambda ns, d: xr.merge([dataset(ns, d), (d * 2).rename("w").to_dataset()]),
    "concat": lambda ns, d: xr.concat([dataset(ns, d), dataset(ns, d)], "x"),
    "isel": lambda ns, d: dataset(ns, d).isel(x=[0, 3], y=slice(2, 5)),
    "reindex": lambda ns, d: dataset(ns, d).reindex(x=[0, 5, 10], fill_value=0),
    "stack, unstack": lambda ns, d: dataset(ns, d).stack(z=("x", "y")).unstack("z"),
    "transpose": lambda ns, d: dataset(ns, d).transpose("y", "x"),
    "map": lambda ns, d: dataset(ns, d).map(abs),
    "to one array": lambda ns, d: d.to_dataset().assign(u=d * 2).to_dataarray(),
}

VARIABLES: dict[str, Program] = {
    "arithmetic": lambda ns, d: d.variable + d.variable * 2,
    "reduced": lambda ns, d: d.variable.mean("x"),
    "transposed": lambda ns, d: d.variable.transpose("y", "x"),
    "set_dims": lambda ns, d: d.variable.set_dims({"n": 2, "x": 4, "y": 6}),
    "stack, unstack": lambda ns, d: d.variable.stack(z=("x", "y")).unstack(z={"x": 4, "y": 6}),
    "concat": lambda ns, d: xr.Variable.concat([d.variable, d.variable], "x"),
    "indexed": lambda ns, d: d.variable[1:, [0, 2]],
}

REDUCTIONS = ("sum", "prod", "mean", "std", "var", "min", "max", "argmin", "argmax", "count", "all", "any")
CUMULATIVE = ("cumsum", "cumprod")


def reductions() -> dict[str, Program]:
    """Each reduction over everything, over one axis and over both, with and without skipping NaN."""
    programs: dict[str, Program] = {}
    for name in REDUCTIONS:
        arguments: list[dict[str, Any]] = [{"dim": "x"}, {"dim": "y"}]
        if not name.startswith("arg"):  # over several axes these are NumPy's unravel_index
            arguments += [{}, {"dim": ["x", "y"]}]
        if name not in ("count", "all", "any"):
            arguments += [{**given, "skipna": True} for given in arguments]
            # For these xarray passes on `ddof`, which the standard calls `correction`.
            if name not in ("std", "var"):
                arguments += [{"dim": "x", "skipna": False}, {"dim": "y", "skipna": False}]
        for given in arguments:
            programs[f"{name} {given}"] = lambda ns, d, n=name, g=given: getattr(d, n)(**g)
            if name not in ("std", "var"):
                programs[f"{name} {given} of integers"] = lambda ns, d, n=name, g=given: getattr(
                    array(ns, INTEGERS), n
                )(**{key: value for key, value in g.items() if key != "skipna"})
    for name in CUMULATIVE:
        programs[name] = lambda ns, d, n=name: getattr(d, n)("x")
    programs["var, ddof"] = lambda ns, d: d.var("x", ddof=1) + d.std("x", ddof=1)
    programs["median"] = lambda ns, d: d.median()
    programs["median with NaN"] = lambda ns, d: d.median("x", skipna=False)
    programs["median over an axis"] = lambda ns, d: d.median("x") + d.median("y")
    programs["sum, min_count"] = lambda ns, d: d.fillna(0.0).sum("x", skipna=False)
    programs["label of the largest"] = lambda ns, d: d.fillna(0.0).idxmax("x").astype(ns.float64)
    return programs


PROGRAMS: dict[str, dict[str, Program]] = {
    "arithmetic": ARITHMETIC,
    "alignment": ALIGNMENT,
    "indexing": INDEXING,
    "shapes": SHAPES,
    "where": WHERE,
    "groups": GROUPS,
    "datasets": DATASETS,
    "variables": VARIABLES,
    "reductions": reductions(),
}
CASES = [
    pytest.param(run, id=f"{kind}: {name}") for kind, table in PROGRAMS.items() for name, run in table.items()
]


def held(result: Any) -> list[Any]:
    """The arrays of data, not of coordinates, in an xarray object."""
    if isinstance(result, xr.Dataset):
        return [variable.data for variable in result.data_vars.values()]
    return [result.data]


def assert_alike(got: Any, expected: Any) -> None:
    assert type(got) is type(expected)
    for x, a in zip(held(got), held(expected), strict=True):
        assert type(x) is xp.Array, f"the data became {type(x)}"
        assert x.dtype.name == a.dtype.name
    xr.testing.assert_allclose(got.as_numpy(), expected, rtol=1e-12)


@pytest.mark.parametrize("run", CASES)
def test_as_with_numpy(run: Program) -> None:
    assert_alike(run(xp, array(xp)), run(np, array(np)))


def test_what_leaves_xarray() -> None:
    d, e = array(xp), array(np)
    assert d.nbytes == e.nbytes and d.size == e.size and d.sizes == e.sizes and len(d) == len(e)
    np.testing.assert_array_equal(d.values, e.values)
    np.testing.assert_array_equal(np.asarray(d), e.values)
    assert d[0, 1].item() == e[0, 1].item() and float(d[0, 1]) == float(e[0, 1])
    assert bool((d > 3).any()) is True
    assert d.to_pandas().equals(e.to_pandas())
    assert str(d.to_dict()) == str(e.to_dict())
    assert d.equals(d.copy()) and d.identical(d.copy()) and not d.equals(d + 1)
    assert "Array([[" in repr(d) and "<svg" in d._repr_html_()
    assert [float(part.sum()) for part in d] == [float(part.sum()) for part in e]


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float32", "complex64"])
def test_attributes_can_be_asked_for(dtype: str) -> None:
    # xarray tests by `isinstance(x, protocol)` whether an object is an array. Before Python 3.12 this reads
    # attributes in the order of a set, so an attribute that raised would cause random failures.
    x = xp.ones((1, 2), dtype=getattr(xp, dtype))
    for name in dir(x):
        hasattr(x, name)
    np.testing.assert_array_equal(np.asarray(x.real), np.asarray(x).real)
    np.testing.assert_array_equal(np.asarray(x.imag), np.asarray(x).imag)


def test_memory_is_shared_not_copied() -> None:
    x = xp.asarray(FLOATS, copy=True)
    d = xr.DataArray(x, dims=("x", "y"))
    assert d.data is x
    x[0, 0] = 99.0
    assert float(d[0, 0]) == 99.0
    assert d.copy(deep=False).data is x


@pytest.mark.parametrize(
    "run", [lambda d: d * d.x, lambda d: d.x * d, lambda d: d + xr.DataArray(np.ones(4), dims="x")]
)
def test_beside_numpy_arrays(run: Callable[[Any], Any]) -> None:
    # Coordinates with an index are NumPy arrays. The data must never become one silently.
    try:
        got = run(array(xp))
    except xp.ForeignArrayError:
        return
    assert_alike(got, run(array(np)))


# Features that xarray has only for NumPy's dtypes or functions, not for other libraries.
MISSING = "must be one of an extension array dtype or numpy dtype"
LIMITS: dict[str, tuple[Callable[[Any], Any], type[Exception], str]] = {
    "where without other": (lambda d: d.where(d > 3), TypeError, MISSING),
    "reindex without a fill value": (lambda d: d.reindex(x=[0, 25]), TypeError, MISSING),
    "outer join without a fill value": (lambda d: xr.align(d, d[:2], join="outer"), TypeError, MISSING),
    "shift without a fill value": (lambda d: d.shift(x=1), TypeError, MISSING),
    "points": (
        lambda d: d.isel(x=xr.DataArray([0, 1], dims="k"), y=xr.DataArray([2, 3], dims="k")),
        TypeError,
        "Vectorized indexing is not supported",
    ),
    "pad without a value": (lambda d: d.pad(x=1), TypeError, MISSING),
    "pad in another mode": (lambda d: d.pad(x=1, mode="wrap"), ValueError, "unknown mode 'wrap'"),
    "rolling": (lambda d: d.rolling(x=2).construct("w", fill_value=0.0), AttributeError, "lib"),
    "rolling mean": (lambda d: d.rolling(x=2).mean(), AttributeError, "lib"),
    "cumulative": (lambda d: d.cumulative("x").sum(), AttributeError, "lib"),
    "quantile": (lambda d: d.quantile(0.3, "x"), AttributeError, "transpose"),
    "quantile of groups": (lambda d: d.groupby("g").quantile(0.5), AttributeError, "transpose"),
    "interpolate_na": (lambda d: d.interpolate_na("x"), AttributeError, "transpose"),
    "interp": (lambda d: d.interp(x=[5, 15]), TypeError, "only works for a numeric type"),
    "covariance": (lambda d: xr.cov(d, d * 2, dim="x"), TypeError, MISSING),
    "correlation": (lambda d: xr.corr(d, d * 2, dim="x"), TypeError, MISSING),
    "sum with min_count": (lambda d: d.sum("x", min_count=2), TypeError, MISSING),
    "weighted mean": (lambda d: d.weighted(weights()).mean("x"), TypeError, MISSING),
    "polyfit": (lambda d: d.fillna(0.0).polyfit("x", 1), TypeError, "'out'"),
    "gradient": (lambda d: d.differentiate("x"), AttributeError, "gradient"),
    "variance with NaN": (lambda d: d.var("x", skipna=False), TypeError, "ddof"),
}


def weights() -> Any:
    return xr.DataArray(xp.asarray([1.0, 2.0, 3.0, 4.0]), dims="x")


def test_weighted_sums_skip_nan_where_told() -> None:
    # xarray reads NumPy's letter for the kind of a dtype, to decide whether there can be NaN.
    d, e = array(xp), array(np)
    got = d.weighted(weights()).sum("x", skipna=True)
    assert_alike(got, e.weighted(weights().as_numpy()).sum("x"))
    assert np.isnan(d.weighted(weights()).sum("x").values[2])


@pytest.mark.parametrize("name", sorted(LIMITS))
def test_what_xarray_keeps_for_numpy(name: str) -> None:
    run, error, text = LIMITS[name]
    with pytest.raises(error, match=text):
        run(array(xp))
