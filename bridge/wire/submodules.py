"""A package that imports all its submodules at once, and of which few are needed."""

import sys
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from types import ModuleType


def import_when_asked(package: str) -> None:
    """Have each submodule of a package imported when somebody first asks for it, here or elsewhere.

    The package's own `__init__` does not run, so this is for one that does nothing but import its submodules. PyCDP
    has 45, we need a quarter of them, and all take a seventh of what the start spends on imports.
    """
    spec = find_spec(package)
    if spec is None or package in sys.modules:
        return
    module = module_from_spec(spec)

    def find(name: str) -> ModuleType:
        try:
            return import_module(f"{package}.{name}")
        except ModuleNotFoundError as error:
            raise AttributeError(f"module {package!r} has no attribute {name!r}") from error

    module.__getattr__ = find
    sys.modules[package] = module
