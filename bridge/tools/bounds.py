"""What a page's schema may cost, counted before anything is compiled: in linear time and without recursion.

A schema is a graph. Its subschemas are nodes; an edge is either *inner*, into a property or an item, where each
step uses up some of the value, or *in place* (`$ref`, `allOf`, `if`, …), where the same value is looked at again.
Only paths in place can multiply without bound, and only a cycle in place never ends.
"""

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Any, Final, cast

from bridge import limits
from bridge.errors import SchemaUnusable

IN_PLACE: Final = frozenset(
    {"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependencies", "dependentSchemas"}
)
INNER: Final = frozenset(
    {
        "additionalItems", "additionalProperties", "contains", "items", "patternProperties", "prefixItems",
        "properties", "propertyNames", "unevaluatedItems", "unevaluatedProperties",
    }
)  # fmt: skip
STORES: Final = frozenset({"$defs", "contentSchema", "definitions"})
"""Nothing is checked against these by itself."""
MAPS: Final = frozenset({"$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"})
"""Keywords whose value holds subschemas by name. The others hold one, or a list."""


@dataclass(frozen=True, slots=True)
class Place:
    """One subschema, where it was found.

    Attributes:
        parent: index of the place around it, or -1 for the first.
        in_place: it looks at the same value as its parent.
    """

    pointer: str
    schema: dict[str, Any]
    parent: int
    in_place: bool


def walk(root: dict[str, Any], pointer: str, keywords: Set[str]) -> list[Place]:
    """Every subschema below `root`, itself included, parents before children.

    Args:
        keywords: those of the dialect; the value of any other keyword is data.

    Raises:
        SchemaUnusable: there are more than `limits.SCHEMA_SUBSCHEMAS`.
    """
    places = [Place(pointer, root, -1, in_place=False)]
    for number, place in enumerate(places):
        for keyword, value in place.schema.items():
            if keyword in keywords:
                places += (
                    Place(f"{place.pointer}/{keyword}{tail}", schema, number, keyword in IN_PLACE)
                    for tail, schema in _subschemas(keyword, value)
                )
        check_subschemas(len(places))
    return places


def check_subschemas(number: int) -> None:
    if number > limits.SCHEMA_SUBSCHEMAS:
        raise SchemaUnusable(f"The input schema has more than {limits.SCHEMA_SUBSCHEMAS:,} subschemas.")


def _subschemas(keyword: str, value: object) -> Iterator[tuple[str, dict[str, Any]]]:
    """Whatever is shaped like a subschema; the meta-schema says later whether it may stand there."""
    if isinstance(value, dict) and keyword not in MAPS:
        yield "", cast("dict[str, Any]", value)
        return
    pairs: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, dict):
        pairs = ((escape(name), part) for name, part in cast("dict[str, Any]", value).items())
    elif isinstance(value, list):
        pairs = enumerate(cast("list[Any]", value))
    for token, part in pairs:
        if isinstance(part, dict):
            yield f"/{token}", cast("dict[str, Any]", part)


def escape(token: str | int) -> str:
    """One token of a JSON Pointer."""
    return str(token).replace("~", "~0").replace("/", "~1")


def nesting(value: object) -> int:
    """How deep lists and objects are nested: 0 for a number, 1 for `[]`, 2 for `[[]]`."""
    depth, level = 0, [value]
    while containers := list(filter(_is_container, level)):
        depth += 1
        level = [part for container in containers for part in _parts(container)]
    return depth


def _is_container(value: object) -> bool:
    return isinstance(value, dict | list)


def _parts(container: object) -> Iterable[object]:
    if isinstance(container, dict):
        return cast("dict[str, object]", container).values()
    return cast("list[object]", container)


def check_paths(edges: Mapping[int, list[int]], pointers: Mapping[int, str]) -> None:
    """Bound how often one value can be looked at.

    Args:
        edges: from each node to those that it applies in place.
        pointers: what to call a node in a message.

    Raises:
        SchemaUnusable: a cycle, or more than `limits.SCHEMA_REF_PATHS` paths from one node.
    """
    paths: dict[int, int] = {}
    for start in edges:
        _count_paths(start, edges, pointers, paths)


def _count_paths(
    start: int, edges: Mapping[int, list[int]], pointers: Mapping[int, str], paths: dict[int, int]
) -> None:
    """Depth first with a stack of our own, since a chain may be longer than Python's."""
    if start in paths:
        return
    open_nodes = {start}
    stack = [(start, iter(edges.get(start, [])))]
    while stack:
        node, rest = stack[-1]
        for following in rest:
            if following in open_nodes:
                where = pointers.get(following) or "its root"
                raise SchemaUnusable(
                    f"The input schema never ends: {where} leads back to itself without going into a property or "
                    "an item."
                )
            if following not in paths:
                open_nodes.add(following)
                stack.append((following, iter(edges.get(following, []))))
                break
        else:
            paths[node] = 1 + sum(paths[following] for following in edges.get(node, []))
            if paths[node] > limits.SCHEMA_REF_PATHS:
                raise SchemaUnusable(
                    "The input schema multiplies too much: its references make more than "
                    f"{limits.SCHEMA_REF_PATHS:,} paths."
                )
            open_nodes.discard(node)
            stack.pop()
