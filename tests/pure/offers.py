"""Snapshots of what a page offers, made by hand."""

from bridge.page.discovery import Discovery
from bridge.page.frames import FrameId, Realm
from bridge.page.kit import NO_KIT
from bridge.tools.schema import check_schema
from bridge.tools.tool import PageTools, Tool, ToolGroup, ToolId


def offer(
    *names: str,
    origin: str = "http://a.test",
    document: str = "1",
    description: str = "",
    schema: str = "{}",
    page: str = "p1",
) -> PageTools:
    """One group of tools; a name may be written `group/name`, which puts it into a group of its own."""
    groups: dict[str, list[str]] = {}
    for name in names:
        group, _, alone = name.rpartition("/")
        groups.setdefault(group or "Group", []).append(alone)
    realm = Realm(document, int(document), origin, FrameId("F"))
    made = [
        ToolGroup(
            group,
            "",
            tuple(
                Tool(ToolId(number, at), name, description, schema, check_schema(schema), None, group)
                for at, name in enumerate(members)
            ),
        )
        for number, (group, members) in enumerate(groups.items())
    ]
    return PageTools(page, tuple(made), (), Discovery(realm, NO_KIT, 1, {}))
