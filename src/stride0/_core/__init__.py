"""The compiled core. Importing it first checks that this is not a subinterpreter: `kernels/module.c`."""

from importlib import import_module as _import_module

_import_module("stride0._core.kernels._common")
