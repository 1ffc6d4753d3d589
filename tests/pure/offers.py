"""Snapshots of what a page offers, made by hand."""

from typing import cast

from bridge.page.document import Document
from bridge.page.frames import FrameId, Realm
from bridge.tools.schema import check_schema
from bridge.tools.tool import DocumentTools, Home, PageTools, Tool, ToolGroup, ToolId
from bridge.wire.connection import Session
from bridge.wire.router import SessionId


def home(origin: str, document: str, frame: str = "", page: str = "p1") -> Home:
    """A document that no browser shows."""
    realm = Realm(document, int(document), origin, FrameId(frame or "F"), SessionId("S"))
    return Home(Document(cast("Session", None), realm, page=page, frame=frame, kit="k"), 1)


def offered(
    *names: str,
    at: Home,
    description: str = "",
    schema: str = "{}",
) -> DocumentTools:
    """What one document offers; a name may be written `group/name`, else it is in the group `Group`."""
    groups: dict[str, list[str]] = {}
    for name in names:
        group, _, alone = name.rpartition("/")
        groups.setdefault(group or "Group", []).append(alone)
    frame = at.document.frame
    made = tuple(
        ToolGroup(
            group,
            "",
            tuple(
                Tool(
                    ToolId(frame, number, place),
                    name,
                    description,
                    schema,
                    check_schema(schema),
                    None,
                    group,
                    at,
                    "page",
                    {},
                )
                for place, name in enumerate(members)
            ),
            frame,
            at.origin,
        )
        for number, (group, members) in enumerate(groups.items())
    )
    return DocumentTools(at, made, ())


def offer(
    *names: str,
    origin: str = "http://a.test",
    document: str = "1",
    description: str = "",
    schema: str = "{}",
    page: str = "p1",
) -> PageTools:
    """A page without iframes."""
    at = home(origin, document, page=page)
    return PageTools(page, (offered(*names, at=at, description=description, schema=schema),))


def with_frame(
    shown: PageTools, *names: str, origin: str = "http://frame.test", document: str = "9", frame: str = "f1"
) -> PageTools:
    """The same page, with an iframe that offers tools as well."""
    inner = offered(*names, at=home(origin, document, frame, shown.page))
    return PageTools(shown.page, (*shown.documents, inner))
