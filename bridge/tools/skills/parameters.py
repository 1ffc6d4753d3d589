"""What a tool of a skill may be given: its parameters, what is sent where they are missing, and which addresses."""

import json
from collections.abc import Mapping
from typing import Any, Final, cast

from bridge import limits
from bridge.errors import SchemaUnusable
from bridge.tools.faults import plain, shown
from bridge.tools.schema import check_schema
from bridge.tools.skills.fields import Fields, Names
from bridge.tools.skills.places import Node
from bridge.tools.skills.urls import Url, UrlRule, read_rule

PAGE: Final = "page"
"""The argument that names the page whose address is sent."""

_RULE: Final[Names] = {"host": ("hostname",), "paths": ("path", "pathPrefixes", "path_prefixes")}


def read_parameters(fields: Fields) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """The properties, and the schema; None where that is unusable."""
    if "parameters" not in fields:
        return {}, {"type": "object", "properties": {}}
    schema = fields.whole("parameters")
    if schema is None:
        return {}, None
    if schema.get("type") != "object":
        fields.error("parameters", '`parameters` must be a schema of an object: write "type": "object".')
        return {}, None
    try:
        check_schema(json.dumps(schema))
    except SchemaUnusable as error:
        fields.error("parameters", f"`parameters` can't be used. {error}")
        return {}, None
    properties = cast("dict[str, Any]", schema.get("properties", {}))
    for name, part in properties.items():
        if isinstance(part, dict) and "description" not in part:
            fields.warn("parameters", f"`parameters` does not say what {plain(name)!r} is: give it a `description`.")
    for name in cast("list[str]", schema.get("required", [])):
        if name not in properties:
            fields.error(
                "parameters", f"`parameters` requires {plain(name)!r}, which is none of its properties: declare it."
            )
    return properties, schema


def read_defaults(
    fields: Fields, schema: dict[str, Any] | None, properties: dict[str, Any], endpoint: Url | None
) -> dict[str, Any]:
    defaults = fields.whole("defaultArgs") or {}
    named = endpoint.query_names if endpoint is not None else frozenset[str]()
    for name in sorted(named & (properties.keys() | defaults.keys())):
        fields.error("endpoint", f"`endpoint` has {plain(name)!r} in its query, and so have its arguments.")
    own = {name: value for name, value in defaults.items() if name in properties}
    if schema is not None and own:
        try:
            faults = check_schema(json.dumps(_with_required(schema, []))).check(own)
        except SchemaUnusable as error:
            fields.error("defaultArgs", f"`defaultArgs` can't be checked. {error}")
            faults = []
        for fault in faults:
            fields.error("defaultArgs", f"`defaultArgs`: {fault.sentence('the whole object')}.")
    return defaults


def read_url_arguments(
    fields: Fields, properties: dict[str, Any], defaults: dict[str, Any]
) -> tuple[str | None, tuple[str, ...]]:
    """The argument that gets a page's address, and all that are addresses."""
    from_page, given = (_url_argument(fields, name, properties) for name in ("activeTabUrlArg", "inputUrlArg"))
    if from_page is not None and PAGE in properties.keys() | defaults.keys():
        fields.error("activeTabUrlArg", "`page` names the page whose address is sent: give yours another name.")
    return from_page, tuple(dict.fromkeys(name for name in (from_page, given) if name is not None))


def _url_argument(fields: Fields, field: str, properties: dict[str, Any]) -> str | None:
    name = fields.text(field)
    if name is None:
        return None
    if name not in properties:
        fields.error(field, f"`{field}` is {shown(name)}, which is none of the properties: declare it.")
        return None
    return name


def read_rules(fields: Fields) -> tuple[UrlRule, ...]:
    listed = fields.get("inputUrlAllowlist")
    if listed is None or fields.list("inputUrlAllowlist") is None:
        return ()
    items = list(listed.items())
    if len(items) > limits.URL_RULES:
        fields.error(
            "inputUrlAllowlist",
            f"`inputUrlAllowlist` has {len(items)} entries, and {limits.URL_RULES} are allowed.",
        )
        return ()
    if not items:
        fields.error("inputUrlAllowlist", "`inputUrlAllowlist` is empty: name a host, or remove it.")
    return tuple(rule for item in items if (rule := _rule(fields, item)) is not None)


def _rule(fields: Fields, item: Node) -> UrlRule | None:
    host, paths = item.value, cast("Any", ["/"])
    if item.object is not None:
        entry = Fields(item, _RULE, f"{fields.what}: an entry of `inputUrlAllowlist`", fields.problems)
        host = entry.text("host")
        node = entry.get("paths")
        paths = node.value if node is not None else paths
        paths = [paths] if isinstance(paths, str) else paths
    texts = cast("list[Any]", paths if isinstance(paths, list) else [])
    if not isinstance(host, str) or not texts or not all(isinstance(path, str) for path in texts):
        problem = 'must be {"host": "…", "paths": ["/…"]}, with at least one path'
    elif len(texts) > limits.URL_RULE_PATHS:
        problem = f"has {len(texts)} paths, and {limits.URL_RULE_PATHS} are allowed"
    else:
        try:
            return read_rule(host, tuple(texts))
        except ValueError as error:
            problem = str(error)
    fields.error_at(item.line, f"an entry of `inputUrlAllowlist` {problem}.")
    return None


def offer(
    fields: Fields,
    schema: dict[str, Any],
    properties: dict[str, Any],
    defaults: Mapping[str, Any],
    page_url_argument: str | None,
) -> dict[str, Any] | None:
    """The schema as an agent gets it: with the defaults, closed, and with `page` where that can be named.

    None where it can't be used so.
    """
    filled = {
        name: {**cast("dict[str, Any]", part), "default": defaults[name]}
        if name in defaults and isinstance(part, dict)
        else part
        for name, part in properties.items()
    }
    required = [name for name in schema.get("required", []) if name not in defaults and name != page_url_argument]
    if page_url_argument is not None:
        filled[PAGE] = {
            "type": "string",
            "description": f"Handle of a page, such as p1: its address is sent as `{page_url_argument}`.",
        }
    offered = {"additionalProperties": False, **_with_required(schema, required), "properties": filled}
    try:
        check_schema(json.dumps(offered))
    except SchemaUnusable as error:
        fields.error("defaultArgs", f"`parameters` can't be used with `defaultArgs` in them. {error}")
        return None
    return offered


def _with_required(schema: dict[str, Any], names: list[str]) -> dict[str, Any]:
    """The schema with these names required. Draft 4 does not let a list of none be one."""
    others = {keyword: value for keyword, value in schema.items() if keyword != "required"}
    return {**others, "required": names} if names else others
