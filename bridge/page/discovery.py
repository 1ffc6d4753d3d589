"""Ask a realm which tools it offers."""

from dataclasses import dataclass, field
from typing import Any, Final

from bridge import limits
from bridge.page.frames import Realm
from bridge.page.kit import KitId, ask_kit
from bridge.wire.connection import Session

SCHEMES: Final = ("http", "https")

BOUNDS: Final = {
    "groups": limits.GROUPS_PER_PAGE,
    "tools": limits.TOOLS_PER_PAGE,
    "nameChars": limits.NAME_CHARS,
    "descriptionChars": limits.DESCRIPTION_CHARS,
    "schemaChars": limits.SCHEMA_CHARS,
    "schemaDepth": limits.SCHEMA_DEPTH,
}


@dataclass(frozen=True)
class Discovery:
    """What one realm answered at one time.

    Attributes:
        number: counts the discoveries of the realm; the kit runs tools of the latest alone.
        answer: `{groups, thrown, surplus}` as page_shims/shims.d.ts describes it.
    """

    realm: Realm
    kit: KitId
    number: int
    answer: dict[str, Any] = field(repr=False)


def why_undiscoverable(realm: Realm) -> str | None:
    """Why tools are not looked for in this realm, or None where they are."""
    if realm.scheme in SCHEMES:
        return None
    kind = "an opaque origin" if realm.is_opaque else f"a {realm.scheme}: address"
    return f"tools are looked for on http and https pages, and this one has {kind}"


async def ask_for_tools(session: Session, realm: Realm, kit: KitId) -> Discovery:
    """Dispatch the event in this realm and return what was answered."""
    answer = await ask_kit(session, kit, "discover", BOUNDS)
    return Discovery(realm, kit, int(answer["discovery"]), answer)
