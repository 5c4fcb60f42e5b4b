"""Calls whose derivatives are not the derivatives of the steps that a recorder sees."""

from __future__ import annotations

from stride0.autograd._tape.tape import current_recorder

__all__ = ["hide_derivatives"]


def hide_derivatives() -> None:
    """Tell the recorder of this thread that the steps of its recording must not be differentiated."""
    recorder = current_recorder()
    if recorder is not None:
        recorder.is_opaque = True
