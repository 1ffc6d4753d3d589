# What the bridge uses of google-re2, which ships without types.

class error(Exception): ...  # noqa: N801  # the library's own name

class Options:
    max_mem: int
    log_errors: bool
    never_nl: bool
    dot_nl: bool
    never_capture: bool
    case_sensitive: bool
    perl_classes: bool
    word_boundary: bool
    one_line: bool

class _Match:
    def start(self, group: int = 0) -> int: ...
    def end(self, group: int = 0) -> int: ...

class _Regexp:
    @property
    def pattern(self) -> str: ...
    @property
    def programsize(self) -> int: ...
    def search(self, text: str, pos: int | None = None, endpos: int | None = None) -> _Match | None: ...
    def match(self, text: str, pos: int | None = None, endpos: int | None = None) -> _Match | None: ...
    def fullmatch(self, text: str, pos: int | None = None, endpos: int | None = None) -> _Match | None: ...

def compile(pattern: str, options: Options | None = None) -> _Regexp: ...  # noqa: A001  # the same
def escape(pattern: str) -> str: ...
