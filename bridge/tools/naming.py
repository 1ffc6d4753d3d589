"""The names of page tools that are MCP tools of their own: valid for every client, unique, and stable.

A name is `page_` and what the page calls the tool, with `_` in place of what LLM APIs refuse:

- where that is too long, or nothing of it is left, a hash of the page's name for it takes the place of the rest;
- the same name in another page gets that one's handle, in an iframe that iframe's number, too: `page_add_p2`,
  `page_add_p1f1`; iframes of an origin are counted, because their handles do not outlive a reload;
- what is alike in the same place (`a/b` and `a_b`, `Add` and `add`, one name in two groups) gets a hash: one keeps
  the plain name, and it is the one whose name had not to be changed.

What is promised: `[A-Za-z0-9_-]`, at most `limits.DIRECT_NAME_CHARS` characters, no two names alike even where case
is ignored, and every tool has exactly one. It depends on what the tool is called, on where it is, and on tools whose
names come out like it; never on the document, on descriptions and schemas, or on any other tool. So a reload keeps it.
A name in `kept` stays with its owner whatever comes and goes, and no other tool gets it.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from itertools import count
from types import MappingProxyType
from typing import Final, NamedTuple

from bridge import limits
from bridge.tools.tool import PageTools, Tool

PREFIX: Final = "page_"
"""No tool of the bridge's own is called so; thus a page can't take the place of one."""
HASH_CHARS: Final = 6
_REFUSED: Final = re.compile(r"[^A-Za-z0-9_-]+")
_NOBODYS: Final[Mapping[str, "Owner"]] = MappingProxyType({})


class Place(NamedTuple):
    """A page or an iframe, over reloads. Sorts p2 before p10, and a page before its iframes.

    Attributes:
        frame_origin: of an iframe; "" for the page itself.
        frame_nth: counts the page's iframes of that origin from 1.
    """

    page_number: int
    frame_origin: str = ""
    frame_nth: int = 0

    @property
    def label(self) -> str:
        return f"p{self.page_number}" + (f"f{self.frame_nth}" if self.frame_nth else "")


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose a name is: equal for the same tool of the next document.

    Attributes:
        place: where the tool is.
        name: the page's own.
        nth: counts the tools of that name in that place.
    """

    place: Place
    name: str
    nth: int


@dataclass(frozen=True, slots=True)
class Owned:
    """One tool of a snapshot, and who it is over the snapshots."""

    owner: Owner
    tool: Tool
    tools: PageTools


def name_tools(owned: Iterable[Owned], kept: Mapping[str, Owner] = _NOBODYS) -> dict[str, Owned]:
    """Give each tool its name: page by page, in the order in which each page offers them.

    Args:
        kept: names given before.
    """
    listed = list(owned)
    names = {owner: name for name, owner in kept.items()}
    taken = {name.lower() for name in kept}
    seen: set[tuple[Place, str]] = set()
    for owner in sorted((one.owner for one in listed), key=_precedence):
        here = owner.place, _plain(owner.name).lower()
        if owner not in names:
            free = (name for name in _candidates(owner, twin=here in seen) if name.lower() not in taken)
            names[owner] = next(free)
            taken.add(names[owner].lower())
        seen.add(here)
    listed.sort(key=lambda one: (one.owner.place, one.tool.id.group, one.tool.id.tool))
    return {names[one.owner]: one for one in listed}


def own(tools: PageTools) -> Iterator[Owned]:
    """The tools of a page, each with its owner."""
    frames = Counter[str]()
    for document in sorted(tools.documents, key=lambda document: _number(document.home.document.frame)):
        place = Place(_number(tools.page))
        if document.home.document.frame:
            frames[document.home.origin] += 1
            place = Place(_number(tools.page), document.home.origin, frames[document.home.origin])
        offered = [tool for group in document.groups for tool in group.tools]
        same = Counter[str]()
        for tool in sorted(offered, key=lambda tool: (tool.group, tool.id.group, tool.id.tool)):
            yield Owned(Owner(place, tool.name, same[tool.name]), tool, tools)
            same[tool.name] += 1


def _number(handle: str) -> int:
    """Of a page or an iframe; 0 where there is no iframe."""
    return int(handle[1:] or 0)


def _precedence(owner: Owner) -> tuple[object, ...]:
    """Who comes first to a name that several could have."""
    return owner.place, _REFUSED.search(owner.name) is not None, owner.name, owner.nth


def _candidates(owner: Owner, *, twin: bool) -> Iterator[str]:
    """Names that the owner could have, the nicest first.

    Args:
        twin: another tool of the same place comes before it, so naming the place would tell nothing.
    """
    yield _plain(owner.name)
    if not twin:
        yield _plain(owner.name, f"_{owner.place.label}")
    for attempt in count():
        yield _cut(_clean(owner.name), f"_{_hash(*map(str, owner.place), owner.name, str(owner.nth), str(attempt))}")


def _plain(name: str, suffix: str = "") -> str:
    stem = _clean(name)
    if stem and len(PREFIX + stem + suffix) <= limits.DIRECT_NAME_CHARS:
        return PREFIX + stem + suffix
    return _cut(stem, f"_{_hash(name)}{suffix}")


def _cut(stem: str, suffix: str) -> str:
    room = limits.DIRECT_NAME_CHARS - len(PREFIX) - len(suffix)
    return PREFIX + (stem[:room] + suffix).lstrip("_")


def _clean(name: str) -> str:
    """The name where it may be used as it is, else what is left of it; often nothing."""
    return name if _REFUSED.search(name) is None else _REFUSED.sub("_", name).strip("_")


def _hash(*words: str) -> str:
    return sha256("\0".join(words).encode(errors="surrogatepass")).hexdigest()[:HASH_CHARS]
