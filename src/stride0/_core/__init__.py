"""The compiled core. Its import first refuses subinterpreters: `kernels/module.c`."""

from importlib import import_module as _import_module

_import_module("stride0._core.kernels._common")
