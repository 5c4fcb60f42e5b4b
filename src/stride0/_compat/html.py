"""Arrays in notebooks: the HTML table that IPython's front ends show instead of the `repr`."""

from __future__ import annotations

from stride0._core.array.array import Array, set_attribute, strides

__all__: list[str] = []


def html(x: Array) -> str:
    """Return dtype, shape and elements of an array as an HTML table; large arrays are summarised."""
    from html import escape  # takes long to import

    facts = {"shape": str(x.shape), "dtype": x.dtype.name}
    x_strides = strides(x)
    if any(stride == 0 and size > 1 for stride, size in zip(x_strides, x.shape, strict=True)):
        facts["strides"] = f"{x_strides} elements: 0 broadcasts"
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
