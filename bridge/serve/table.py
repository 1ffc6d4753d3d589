"""A page's tools as a person reads them. The only importer of rich."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

import click
from rich.cells import cell_len, set_cell_size
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from bridge.serve.printable import printable

NARROW_COLUMNS: Final = 72
"""Below this a table would break its words, so each tool is a paragraph."""
VALUE_CHARS: Final = 60
"""Of a default or the values of an enum."""


def print_tools(listing: Mapping[str, Any]) -> None:
    """Print one page of a listing, as `bridge.calls.listing` gives it."""
    console = Console(highlight=False, markup=False, emoji=False)
    with console.capture() as capture:
        for part in _parts(listing, narrow=console.width < NARROW_COLUMNS):
            console.print(part)
    # rich fills every line up with spaces.
    click.echo("\n".join(line.rstrip() for line in capture.get().splitlines()))


def _parts(listing: Mapping[str, Any], *, narrow: bool) -> Iterator[RenderableType]:
    names = [tool["name"] for group in listing["groups"] for tool in group["tools"]]
    yield _heading(listing, len(names))
    for group in listing["groups"]:
        rows = [_read(tool, ambiguous=names.count(tool["name"]) > 1) for tool in group["tools"]]
        yield ""
        yield _group_heading(group)
        yield ""
        yield _paragraphs(rows) if narrow else _table(rows)
    if listing["problems"]:
        yield ""
        yield Text("Problems", "bold yellow")
        yield from map(_item, listing["problems"])


@dataclass(frozen=True)
class _Row:
    name: Text
    arguments: Sequence[Text]
    description: Text


def _heading(listing: Mapping[str, Any], count: int) -> Text:
    heading = Text(printable(listing["url"]), "bold")
    if not listing["groups"]:
        return heading.append(" offers no tools", "not bold")
    return heading.append(f" offers {count} tool{'' if count == 1 else 's'}", "not bold")


def _group_heading(group: Mapping[str, Any]) -> Text:
    heading = Text(_line(group["name"]) or "(a group without a name)", "bold")
    if group["description"]:
        heading.append(f": {_line(group['description'])}", "not bold")
    return heading


def _read(tool: Mapping[str, Any], *, ambiguous: bool) -> _Row:
    name = Text(_line(tool["name"]), "bold cyan")
    if ambiguous:
        name.append(f" {tool['id']}", "not bold")
    if "unusable" in tool:
        arguments = [Text("can't be called, see below", "red")]
    else:
        arguments = [Text(_line(argument)) for argument in describe_arguments(tool["inputSchema"])]
    return _Row(name, arguments, Text(printable(tool["description"]).strip()))


def _table(rows: Sequence[_Row]) -> RenderableType:
    table = Table("Tool", "Arguments", "Description", box=None, header_style="dim", padding=(0, 1, 0, 2))
    for row in rows:
        table.add_row(row.name, Text("\n").join(row.arguments), row.description)
    return table


def _paragraphs(rows: Sequence[_Row]) -> RenderableType:
    parts: list[RenderableType] = []
    for row in rows:
        parts.append(Padding(row.name, (0, 0, 0, 2)))
        parts += (Padding(line, (0, 0, 0, 4)) for line in (*row.arguments, row.description) if line)
    return Group(*parts)


def _item(text: str) -> RenderableType:
    item = Table.grid(padding=(0, 1, 0, 0))
    item.add_row("  -", Text(_line(text)))
    return item


def _line(text: str) -> str:
    """In one line, whatever the page wrote."""
    return " ".join(printable(text).split())


def describe_arguments(schema: Mapping[str, Any]) -> list[str]:
    """One line for each argument of a checked schema: `limit?: integer = 10`."""
    properties = schema.get("properties", {})
    required = schema.get("required", ())
    return [f"{name}{'' if name in required else '?'}: {_describe(value)}" for name, value in properties.items()]


def _describe(schema: object) -> str:
    if not isinstance(schema, dict):
        return "any"
    fields = cast("dict[str, Any]", schema)
    default = f" = {_value(fields['default'])}" if "default" in fields else ""
    return _type(fields) + default


def _type(fields: Mapping[str, Any]) -> str:
    match fields:
        case {"const": value}:
            return _value(value)
        case {"enum": [*values]}:
            return _cut(" | ".join(map(_value, values)))
        case {"type": "array", "items": {"type": str(kind)}}:
            return f"{kind}[]"
        case {"type": str(kind)}:
            return kind
        case {"type": [*kinds]}:
            return " | ".join(map(str, kinds))
        case _:
            return "any"


def _value(value: object) -> str:
    return _cut(json.dumps(value, ensure_ascii=False))


def fit(text: str, columns: int) -> str:
    """Exactly so many columns of a terminal: filled up with spaces, or cut, with a mark at the end."""
    return set_cell_size(text if cell_len(text) <= columns else set_cell_size(text, columns - 1) + "…", columns)


def _cut(text: str) -> str:
    return text if len(text) <= VALUE_CHARS else f"{text[: VALUE_CHARS - 1]}…"
