"""Loads a module from the bytes that the bridge has read, and notes which other files of its user's it imports."""

import os
import sys
from collections.abc import Sequence
from hashlib import sha256
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Final

PACKAGE: Final = "project_tools"
"""The folder of the module, as a package: `from .other import x` finds the file beside it."""

_PYTHONS_OWN: Final = Path(os.__file__).resolve().parent


def load_module(path: Path, data: bytes) -> ModuleType:
    """Run the file of a module, and return it. Raises whatever it raises."""
    package = ModuleType(PACKAGE)
    package.__path__ = [str(path.parent)]
    sys.modules[PACKAGE] = package
    # Last: a file of the project never stands in for one of Python's own.
    sys.path.append(str(path.parent))
    module = ModuleType(f"{PACKAGE}.{path.stem}")
    module.__file__ = str(path)
    module.__package__ = PACKAGE
    sys.modules[module.__name__] = module
    exec(compile(data, str(path), "exec", dont_inherit=True), module.__dict__)
    return module


class Noted(MetaPathFinder):
    """Finds what Python itself finds, and keeps the hash of each file below some folders that was imported.

    Compiled files are not used there: whether one is up to date is told by the time of its source, in seconds.
    """

    def __init__(self, *folders: Path) -> None:
        self._folders = [folder.resolve() for folder in folders]
        self.hashes: dict[str, str] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.origin is None or not isinstance(spec.loader, SourceFileLoader):
            return spec
        real = Path(spec.origin).resolve()
        if any(map(real.is_relative_to, self._folders)) and not _is_installed(real):
            spec.loader = _Loader(fullname, spec.origin, self, real)
        return spec


class _Loader(SourceFileLoader):
    def __init__(self, fullname: str, path: str, noted: Noted, real: Path) -> None:
        super().__init__(fullname, path)
        self._noted = noted
        self._real = real

    def get_code(self, fullname: str) -> CodeType:
        data = self.get_data(self.path)
        self._noted.hashes[str(self._real)] = sha256(data).hexdigest()
        return self.source_to_code(data, self.path)


def _is_installed(path: Path) -> bool:
    return "site-packages" in path.parts or path.is_relative_to(_PYTHONS_OWN)
