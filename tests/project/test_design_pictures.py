"""The pictures of the overview equal the output of their script, and show each folder of the package."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / "docs" / "design" / "pictures"
SOURCE = ROOT / "src" / "stride0"


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("draw", PICTURES / "draw.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


DRAW = load()


@pytest.mark.parametrize("name", DRAW.PICTURES)
def test_pictures(name: str) -> None:
    """To draw the pictures again: `python docs/design/pictures/draw.py`."""
    assert (PICTURES / f"{name}.svg").read_text(encoding="utf-8") == DRAW.PICTURES[name]()


def test_each_folder_is_in_one_layer() -> None:
    there = {folder.name for folder in SOURCE.iterdir() if folder.is_dir() and folder.name != "_core"}
    there |= {f"_core/{folder.name}" for folder in (SOURCE / "_core").iterdir() if folder.is_dir()}
    shown = [name for layer in DRAW.LAYERS for name, _ in layer.folders if name != "__init__.py"]
    assert sorted(shown) == sorted(name for name in there if "__pycache__" not in name)


def test_functions_of_the_call_exist() -> None:
    sources = [
        path for path in (SOURCE / "_core").rglob("*") if path.suffix in (".pyx", ".pxd", ".pxi", ".in")
    ]
    compiled = "".join(path.read_text(encoding="utf-8") for path in sources)
    for name in (
        "binary",
        "binary_raw",
        "apply",
        "run_kernel",
        "broadcast",
        "set_strides",
        "order_axes",
        "coalesce",
    ):
        assert name in DRAW.life_of_a_call()
        assert f" {name}(" in compiled, name
