"""`[tools]` and `[skills]`: what they say, and what is wrong with it. One wrong entry costs itself alone."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from bridge.errors import UsageError
from bridge.manifest.manifest import BUILT_IN, BuiltIns, SkillEntry, ToolEntry
from bridge.manifest.parsed import NAME, NAME_RULE, Parsed, closest, show
from bridge.manifest.paths import why_no_path
from bridge.origins import is_loopback, read_origin

PAGE_PREFIX: Final = "page_"
"""Before the names of page tools, where these are tools of MCP."""
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_SKILL_KEYS: Final = ("path", "sha256", "trusted", "downloads", "local_origins")


def why_no_name(name: str, built_ins: BuiltIns) -> str | None:
    """Why no tool of a project can be called so, in sentences, or None."""
    if not NAME.fullmatch(name):
        return f"{show(name)} can't be a tool's name. {NAME_RULE}."
    if name.startswith(PAGE_PREFIX):
        return f"{name} can't be a tool's name: those with {PAGE_PREFIX} are for tools of pages. Choose another name."
    if name in built_ins.reserved:
        return (
            f"{name} can't be a tool's name: a built-in tool that no manifest lists is called so. Choose another name."
        )
    if name in built_ins.retired:
        return f"{name} can't be a tool's name: a built-in tool was called so once. Choose another name."
    return None


def read_tools(parsed: Parsed, built_ins: BuiltIns) -> list[ToolEntry] | None:
    """The lines of a file's `[tools]` that are right; None where it has no such table."""
    table = parsed.table("tools")
    if table is None:
        return None
    found: list[ToolEntry] = []
    for name, source in table.items():
        fault = why_no_name(name, built_ins) or _why_no_source(name, source, built_ins)
        if fault is None:
            found.append(ToolEntry(name=name, source=source, file=parsed.name, line=parsed.line("tools", name)))
        else:
            parsed.complain(("tools", name), fault, alone=True)
    return found


def _why_no_source(name: str, source: object, built_ins: BuiltIns) -> str | None:
    replaced = name in built_ins.names
    what = f'"{BUILT_IN}{name}" (the built-in tool) or ' if replaced else ""
    rule = f'{name} must be {what}the path of a .py file in the project, such as "tools/{name}.py"'
    if not isinstance(source, str):
        return f"{rule}."
    if source.startswith(BUILT_IN):
        if source == f"{BUILT_IN}{name}" and replaced:
            return None
        if replaced:
            return f"{rule}: a built-in tool has its own name only."
        return f"{rule}: there is no built-in tool {name}. {closest(name, built_ins.names)}".rstrip()
    if source.endswith(".md"):
        return f"{rule}. A skill belongs under [skills]: `pagebridge skills add {show(source)}` puts it there."
    reason = why_no_path(source, ".py")
    return None if reason is None else f"{rule}. {show(source)} is none: {reason}."


def read_skills(parsed: Parsed) -> list[SkillEntry]:
    """The entries of a file's `[skills]` that are right."""
    found: list[SkillEntry] = []
    for name, value in (parsed.table("skills") or {}).items():
        fields: Mapping[str, Any] = cast("dict[str, Any]", value) if isinstance(value, dict) else {"path": value}
        faults = list(_skill_faults(name, fields))
        for key, message in faults:
            parsed.complain(("skills", name, key), message, alone=True)
        parsed.check_keys(fields, _SKILL_KEYS, "skills", name, alone=True)
        if not faults:
            found.append(
                SkillEntry(
                    name=name,
                    path=fields["path"],
                    sha256=fields.get("sha256"),
                    trusted=fields.get("trusted", False),
                    downloads=fields.get("downloads"),
                    local_origins=frozenset(map(read_origin, fields.get("local_origins", ()))),
                    file=parsed.name,
                    line=parsed.line("skills", name),
                )
            )
    return found


def _skill_faults(name: str, fields: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The keys of a skill that are wrong, each with what to do about it."""
    if not NAME.fullmatch(name):
        yield "", f"{show(name)} can't be a skill's name. {NAME_RULE}."
        return
    path = fields.get("path")
    if (fault := why_no_path(path, ".md")) is not None:
        wanted = f'must be that of a .md file in the project, such as "skills/{name}.md"'
        yield "path", f"The path of skill {name} {wanted}: {fault}."
    if not (isinstance(sha256 := fields.get("sha256", "0" * 64), str) and _SHA256.fullmatch(sha256)):
        yield (
            "sha256",
            f"sha256 of skill {name} is none: `pagebridge skills add {show(str(path))}` writes the right one.",
        )
    if not isinstance(fields.get("trusted", False), bool):
        yield "trusted", f"trusted of skill {name} must be true or false."
    if (fault := why_no_path(fields.get("downloads", "downloads"), "")) is not None:
        yield (
            "downloads",
            f'downloads of skill {name} must be a folder in the project, such as "downloads": {fault}.',
        )
    origins = fields.get("local_origins", [])
    if not isinstance(origins, list) or not all(map(_is_own, cast("list[object]", origins))):
        wanted = 'a list of https origins on this machine, such as ["https://localhost:8443"]'
        yield "local_origins", f"local_origins of skill {name} must be {wanted}."


def _is_own(origin: object) -> bool:
    try:
        return isinstance(origin, str) and is_loopback(origin := read_origin(origin)) and origin.startswith("https:")
    except UsageError:
        return False
