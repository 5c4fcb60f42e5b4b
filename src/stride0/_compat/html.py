"""Arrays in notebooks: the table that IPython's front ends show in the place of the `repr`."""

from __future__ import annotations

from html import escape

from stride0._core.array.array import Array, set_attribute
from stride0._core.array.views import strides

__all__: list[str] = []


def html(x: Array) -> str:
    """Return what an array is and its elements, summarised where they are many, as a table in HTML."""
    facts = {"shape": str(x.shape), "dtype": x.dtype.name}
    steps = strides(x)
    if any(step == 0 and size > 1 for step, size in zip(steps, x.shape, strict=True)):
        facts["strides"] = f"{steps} elements: 0 broadcasts"
    facts["device"] = x.device.name
    rows = "".join(_row(label, escape(text)) for label, text in facts.items())
    elements = f'<pre style="margin:0;text-align:left">{escape(str(x))}</pre>'
    return f'<table class="stride0-array">{rows}{_row("elements", elements)}</table>'


def _row(label: str, content: str) -> str:
    return (
        f'<tr><th style="text-align:left;vertical-align:top">{label}</th>'
        f'<td style="text-align:left">{content}</td></tr>'
    )


set_attribute("_repr_html_", html)
