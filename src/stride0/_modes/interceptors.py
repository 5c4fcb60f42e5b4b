"""Looks at calls as they come in, and at their results, where strict mode or a test bench is on."""

from __future__ import annotations

from typing import Any

from stride0._core.array.interceptors import is_strict, set_gate
from stride0._modes.configurations import Bench, Visit, bench_here
from stride0._modes.strict_rules import check_call

__all__: list[str] = []


def _enter(way: str, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Bench, Visit] | None:
    if is_strict():
        check_call(way, name, args, kwargs)
    bench = bench_here()
    return None if bench is None else (bench, bench.enter(way, name, args, kwargs))


def _leave(visit: tuple[Bench, Visit], out: Any) -> Any:
    bench, about = visit
    return bench.leave(about, out)


set_gate(_enter, _leave)
