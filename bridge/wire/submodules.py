"""A package that imports all its submodules at once, and of which few are needed."""

import sys
from importlib.util import LazyLoader, find_spec, module_from_spec
from types import ModuleType


def import_when_asked(package: str) -> None:
    """Have each submodule of a package run when something in it is first asked for, here or elsewhere.

    The package's own `__init__` does not run, so this is for one that does nothing but import its submodules. PyCDP
    has 45, and those that we need import others for annotations alone, which are texts.
    """
    spec = find_spec(package)
    if spec is None or package in sys.modules:
        return
    module = module_from_spec(spec)

    def find(name: str) -> ModuleType:
        full_name = f"{package}.{name}"
        if full_name in sys.modules:  # it is being imported by its own name
            return sys.modules[full_name]
        found = find_spec(full_name)
        if found is None or found.loader is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found.loader = LazyLoader(found.loader)
        submodule = module_from_spec(found)
        sys.modules[full_name] = submodule
        setattr(module, name, submodule)
        found.loader.exec_module(submodule)
        return submodule

    module.__getattr__ = find
    sys.modules[package] = module
