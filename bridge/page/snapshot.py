"""A page as text: its accessibility tree in lines, in which each element has the uid that a call can name it by.

Chromium's tree is read as it comes: PyCDP's reader fails on roles and properties that are newer than it. Words of the
page stand in quotes, as JSON strings, so that none of them can be read as another line or another uid.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from secrets import token_hex
from typing import Any, Final, cast

import trio

from bridge import limits
from bridge.errors import CommandFailed, PageRestless, PageTooLarge
from bridge.page.frames import Realm
from bridge.page.hands import HELD, Held, RealmGone, attend, call_hand, open_element, run_each
from bridge.page.kit import is_answer_lost, is_realm_gone
from bridge.page.masks import MASKED, is_secret_field
from bridge.page.session import Page
from bridge.wire.connection import Session
from bridge.wire.devtools import describe_node, get_tree, release_group, resolve_node
from bridge.wire.router import Json

_SKIPPED: Final = frozenset({"InlineTextBox", "LineBreak", "ListMarker"})
"""Roles that say nothing which is not said around them."""
_TRANSPARENT: Final = frozenset(
    {"none", "generic", "InlineTextBox", "LayoutTable", "LayoutTableRow", "LayoutTableCell", "MenuListPopup"}
)
"""Roles whose nodes only matter for what is in them, where they have no name and can't be focused."""
_TEXT: Final = frozenset({"StaticText", "text"})
_UID: Final = re.compile(r"e[0-9]{1,12}-[0-9]{1,9}")
_ESCAPED: Final = re.compile(r"[<>\\\x7f]")
_STATES: Final = (
    ("checked", "checked"),
    ("pressed", "pressed"),
    ("expanded", "expanded"),
    ("selected", "selected"),
    ("disabled", "disabled"),
    ("readonly", "readonly"),
    ("required", "required"),
    ("invalid", "invalid"),
    ("focused", "focused"),
    ("modal", "modal"),
    ("busy", "busy"),
    ("multiselectable", "multiselectable"),
)
_LIMITS: Final = ("valuemin", "valuemax")
_VALUES: Final = ("level", *_LIMITS, "roledescription", "url")


@dataclass(slots=True)
class Line:
    """One line of a snapshot.

    Attributes:
        backend_id: Chromium's number of its node, 0 for none.
        realm: the document that it is of.
        value: what a field holds, None where it is none.
        words: states and further facts, as they are written.
        is_field: a person writes into it, so that what is in it is its value, and may be a secret.
    """

    depth: int
    realm: Realm
    backend_id: int
    role: str
    name: str
    value: str | None = None
    words: tuple[str, ...] = ()
    is_field: bool = False
    uid: str = ""

    def write(self) -> str:
        """As an agent reads it."""
        indent = "  " * min(self.depth, limits.SNAPSHOT_DEPTH)
        name = f" {_quote(self.name)}" if self.name else ""
        value = f" value={MASKED if self.value == MASKED else _quote(self.value)}" if self.value is not None else ""
        words = "".join(f" {word}" for word in self.words)
        return f"{indent}{f'{self.uid} ' if self.uid else ''}{self.role}{name}{value}{words}"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One part of a page as text.

    Attributes:
        lines: how many there are in the whole.
        first: the number of the first in this part, counted from 0.
        next_line: where the next part begins, or None.
        cut: there is more of the page than is looked at.
    """

    text: str
    lines: int
    first: int
    next_line: int | None
    cut: bool


@dataclass(slots=True)
class _Node:
    """A node of Chromium's tree, with what it holds."""

    json: Json
    children: list["_Node"] = field(default_factory=list["_Node"])


async def take_snapshot(page: Page, *, uid: str | None = None, first: int = 0, verbose: bool = False) -> Snapshot:
    """Look at a page, and write down what is in it.

    A page that is loading is given `limits.LOAD_SECONDS` to finish first.

    Args:
        uid: only this element, and what is in it.
        first: the line to begin with.
        verbose: also what has no meaning of its own.

    Raises:
        ElementGone: `uid` names none.
        PageGone, DialogOpen: it can't be looked at.
        PageTooLarge: it has more than is looked at.
        PageRestless: it goes elsewhere each time that it is looked at.
    """

    async def look() -> Snapshot:
        lines, cut = await _read_lines(page, uid, verbose=verbose)
        part = lines[first : first + limits.SNAPSHOT_LINES]
        await _name(page, part)
        written = list(_write_what_fits(part))
        end = first + len(written)
        return Snapshot("\n".join(written), len(lines), first, end if end < len(lines) else None, cut)

    load_until = trio.current_time() + limits.LOAD_SECONDS
    for _ in range(limits.SNAPSHOT_TRIES):
        try:
            if trio.current_time() < load_until:
                await page.wait_loaded()
            await page.wait_realm()
            return await attend(page, look)
        except RealmGone:
            continue
    raise PageRestless(page.handle, limits.SNAPSHOT_TRIES)


async def read_text(page: Page) -> str:
    """All that a page says, of all its frames: texts and names, one behind the other, white space made one space.

    Raises:
        PageGone, DialogOpen: it can't be looked at.
        RealmGone: it went elsewhere meanwhile.
    """

    async def look() -> str:
        lines, _ = await _read_lines(page, None, verbose=True)
        return " ".join(" ".join(line.name for line in lines if line.name).split())

    return await attend(page, look)


async def _read_lines(page: Page, uid: str | None, *, verbose: bool) -> tuple[list[Line], bool]:
    await page.wait_awake()
    reader = _Reader(page, verbose=verbose)
    if uid is None:
        realm = page.realm
        if realm is None:
            raise RealmGone
        await reader.read(realm, None, 0)
    else:
        async with open_element(page, uid) as element:
            node = await element.run(describe_node(object_id=element.held.object_id))
            await reader.read(element.realm, node.number, 0)
    return reader.lines, reader.cut


class _Reader:
    """Reads the trees of a page's frames, each where its iframe is."""

    def __init__(self, page: Page, *, verbose: bool) -> None:
        self.lines: list[Line] = []
        self.cut = False
        self._page = page
        self._verbose = verbose
        self._nodes = 0
        self._frames = 0

    async def read(self, realm: Realm, only: int | None, depth: int) -> None:
        """Add the lines of one document.

        Args:
            only: the number of the one node that is wanted, with what is in it.

        Raises:
            RealmGone: the document was left.
        """
        session = self._page.session_of(realm)
        await self._measure(realm)
        try:
            nodes = await session.run(get_tree(realm.frame))
        except CommandFailed as error:
            if (
                is_realm_gone(error)
                or is_answer_lost(error)
                or "frameId" in error.reason
                or realm not in self._page.realms
            ):
                raise RealmGone from error
            raise
        if realm not in self._page.realms:
            raise RealmGone
        if len(nodes) > limits.SNAPSHOT_NODES - self._nodes:
            self.cut = True
        root = build_tree(nodes[: limits.SNAPSHOT_NODES - self._nodes], only)
        self._nodes += len(nodes)
        if root is None:
            return
        for line in write_tree(root, realm, depth, verbose=self._verbose):
            self.lines.append(line)
            if line.role == "Iframe":
                await self._read_frame(session, realm, line)

    async def _measure(self, realm: Realm) -> None:
        """Ask the document how large it is. What shadow roots and attributes hold is not counted.

        Raises:
            PageTooLarge: it is larger than `limits` has it.
            RealmGone: it was left.
        """
        match (await call_hand(self._page, realm, "measurePage")).evaluated.value:
            case {"elements": int(elements), "chars": int(chars)}:
                if elements > limits.SNAPSHOT_ELEMENTS:
                    raise PageTooLarge(self._page.handle, f"{elements:,} elements")
                if chars > limits.SNAPSHOT_DOCUMENT_CHARS:
                    raise PageTooLarge(self._page.handle, f"{chars:,} characters")
            case _:
                raise CommandFailed("Runtime.callFunctionOn", "the page broke the shim")

    async def _read_frame(self, session: Session, parent: Realm, line: Line) -> None:
        self._frames += 1
        if self._frames > limits.SNAPSHOT_FRAMES:
            self.cut = True
            return
        try:
            node = await session.run(describe_node(number=line.backend_id))
        except CommandFailed:
            return  # it is gone by now
        realm = next((one for one in self._page.realms if one.frame == node.frame), None)
        if realm is None:
            return
        if realm.origin != parent.origin:
            line.words = (*line.words, f"origin={_quote(realm.origin)}")
        try:
            await self.read(realm, None, line.depth + 1)
        except RealmGone:
            line.words = (*line.words, "(it went elsewhere while it was looked at)")
        except (CommandFailed, PageTooLarge):
            line.words = (*line.words, "(it can't be looked at)")


async def _name(page: Page, lines: Sequence[Line]) -> None:
    """Give each line of an element its uid, and mask what is a secret.

    Raises:
        RealmGone: the page's own document was left.
    """
    for realm in {line.realm: None for line in lines}:
        named = [line for line in lines if line.realm == realm and line.backend_id and line.role not in _TEXT]
        session = page.session_of(realm)
        # One of their own, as others may hold objects meanwhile.
        group = f"{HELD}-{token_hex(4)}"
        resolved = await run_each(session, [resolve_node(line.backend_id, group) for line in named])
        held = [(line, Held(one)) for line, one in zip(named, resolved, strict=True) if one]
        try:
            called = await call_hand(page, realm, "nameElements", *(one for _, one in held))
        except RealmGone:
            if realm == page.realm or page.realm is None:
                raise
            continue
        except CommandFailed as error:
            if error.error_code is not None:
                raise RealmGone from error  # objects of another document are among them
            if realm == page.realm:
                raise
            continue
        finally:
            session.send_nowait(release_group(group))
        for (line, _), told in zip(held, called.evaluated.value, strict=True):
            if told is not None and _UID.fullmatch(str(told["uid"])):
                line.uid = str(told["uid"])
                _mask(line, told["field"])
        for line in named:
            if line.is_field and not line.uid and line.value:
                line.value = MASKED  # nobody knows what it is for


def _mask(line: Line, words: list[str] | None) -> None:
    if words is None or not line.value:
        return
    kind, autocomplete, *names = map(str, words)
    if is_secret_field(kind, autocomplete, *names, line.name):
        line.value = MASKED


def _write_what_fits(lines: Sequence[Line]) -> Iterator[str]:
    """The first of these lines, as many as an answer shows whole, and one: it is cut at `limits.INLINE_BYTES`."""
    room = limits.INLINE_BYTES
    for number, line in enumerate(lines):
        text = line.write()
        # At most: an answer may write what is not in ASCII as an escape, as JSON does, and four signs more.
        room -= len(json.dumps(text)) + 5 * len(_ESCAPED.findall(text))
        if room < 0 < number:
            return
        yield text


def build_tree(nodes: Sequence[Json], only: int | None = None) -> _Node | None:
    """Chromium's flat list of nodes as a tree: from its root, or from the node with the number `only`."""
    by_id = {str(one["nodeId"]): _Node(one) for one in nodes}
    # The first is the root. Each other has one parent, whatever the list says: else there could be a circle.
    placed = set(list(by_id)[:1])
    for node in by_id.values():
        for child_id in map(str, node.json.get("childIds") or ()):
            if child_id in by_id and child_id not in placed:
                placed.add(child_id)
                node.children.append(by_id[child_id])
    if only is not None:
        return next((node for node in by_id.values() if node.json.get("backendDOMNodeId") == only), None)
    return next(iter(by_id.values()), None)


def write_tree(root: _Node, realm: Realm, depth: int = 0, *, verbose: bool = False) -> Iterator[Line]:
    """The lines of a tree, from top to bottom."""
    stack: list[tuple[_Node, int]] = [(root, depth)]
    while stack:
        node, level = stack.pop()
        line = _line(node, level, realm, verbose=verbose, is_root=node is root)
        inner = level
        if line is not None:
            yield line
            inner += 1
            if (line.is_field and not _is_rich(node.json)) or (not verbose and _says_it_all(line.name, node)):
                continue  # what is in it is its value, or its name
        stack.extend((child, inner) for child in reversed(node.children))


def _says_it_all(name: str, node: _Node) -> bool:
    """Whether a name is all that is in its node: texts, one behind the other."""
    wanted = "".join(name.split())
    said = 0
    stack = list(reversed(node.children))
    while stack and wanted:
        inner = stack.pop()
        role = _said(inner.json.get("role"))
        if role in _SKIPPED:
            continue
        if role in _TEXT:
            text = "".join(_said(inner.json.get("name")).split())
            if wanted[said : said + len(text)] != text:
                return False
            said += len(text)
        elif inner.json.get("ignored") is True or role in _TRANSPARENT:
            stack.extend(reversed(inner.children))
        else:
            return False
    return said == len(wanted) > 0


def _line(node: _Node, depth: int, realm: Realm, *, verbose: bool, is_root: bool) -> Line | None:
    json_ = node.json
    role = _said(json_.get("role")) or "none"
    if json_.get("ignored") is True or role in _SKIPPED:
        return None
    name = _short(_said(json_.get("name")))
    properties = {str(one["name"]): _said(one.get("value")) for one in json_.get("properties") or ()}
    if role in _TEXT:
        return Line(depth, realm, 0, "text", name) if name.strip() else None
    is_plain = not name and properties.get("focusable") != "true" and "editable" not in properties
    if not verbose and not is_root and role in _TRANSPARENT and is_plain:
        return None
    is_field = "editable" in properties or properties.get("settable") == "true"
    words = [word for key, word in _STATES if properties.get(key, "false") not in ("false", "")]
    words = [f"{word}=mixed" if properties[word] == "mixed" else word for word in words]
    if properties.get("expanded") == "false":
        words.append("collapsed")
    if role == "RootWebArea" and "focused" in words:
        words.remove("focused")
    if _is_rich(json_) and role != "textbox":
        words.append("editable")
    unset = () if _has_range(properties) else _LIMITS
    told = [key for key in _VALUES if properties.get(key) and not (key in unset and properties[key] == "0")]
    words += [f"{key}={_plain(properties[key])}" for key in told]
    description = _short(_said(json_.get("description")))
    if description and description != name:
        words.append(f"description={_quote(description)}")
    value = _short(_said(json_.get("value"))) if json_.get("value") is not None else None
    if role in ("RootWebArea", "Iframe", "link", "image", "heading"):
        value = None
    if _is_rich(json_):
        value = None  # its lines say it
    number = json_.get("backendDOMNodeId")
    return Line(
        depth, realm, number if isinstance(number, int) else 0, role, name, value, tuple(words), is_field=is_field
    )


def _has_range(properties: Mapping[str, str]) -> bool:
    """Whether its limits are some. Chromium says 0 for one that is not set."""
    try:
        return float(properties["valuemin"]) < float(properties["valuemax"])
    except (KeyError, ValueError):
        return True


def _is_rich(json_: Json) -> bool:
    """Whether a person writes more than plain text there."""
    return any(
        one.get("name") == "editable" and _said(one.get("value")) == "richtext" for one in json_.get("properties") or ()
    )


def _said(told: Any) -> str:  # noqa: ANN401  # JSON
    """The text of an AXValue, "" for none."""
    match cast("Json", told).get("value") if isinstance(told, dict) else None:
        case bool() as value:
            return "true" if value else "false"
        case str() as value:
            return value
        case int() | float() as value:
            return f"{value:g}"
        case _:
            return ""


def _short(text: str) -> str:
    if len(text) <= limits.SNAPSHOT_TEXT_CHARS:
        return text
    return f"{text[: limits.SNAPSHOT_TEXT_CHARS]}… ({len(text) - limits.SNAPSHOT_TEXT_CHARS:,} more characters)"


def _plain(text: str) -> str:
    """A number as it is, anything else in quotes."""
    return text if re.fullmatch(r"-?[0-9.]{1,20}", text) else _quote(_short(text))


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
