"""Which documents are asked for tools, within which bounds, and what one answered."""

from dataclasses import dataclass, field
from typing import Any, Final, cast

from bridge import limits
from bridge.errors import CommandFailed
from bridge.page.frames import Realm
from bridge.settings import PageSettings

BOUNDS: Final = {
    "groups": limits.GROUPS_PER_PAGE,
    "tools": limits.TOOLS_PER_PAGE,
    "nameChars": limits.NAME_CHARS,
    "descriptionChars": limits.DESCRIPTION_CHARS,
    "schemaChars": limits.SCHEMA_CHARS,
    "allSchemaChars": limits.ALL_SCHEMA_CHARS,
    "schemaDepth": limits.SCHEMA_DEPTH,
    "patience": limits.DISCOVERY_SECONDS * 1000,
    "formPatience": limits.FORM_SECONDS * 1000,
    "newsPatience": limits.NEWS_SECONDS * 1000,
}


@dataclass(frozen=True)
class Discovery:
    """What one document answered, as of now.

    Attributes:
        round: counts the times it was asked; the kit runs tools of the latest round alone.
        answer: `{groups, thrown, surplus, more}` as page_shims/shims.d.ts describes it.
    """

    round: int
    answer: dict[str, Any] = field(repr=False)

    @property
    def more(self) -> bool:
        """More answers may come."""
        return self.answer.get("more") is True


def read_answer(answer: Any) -> Discovery:  # noqa: ANN401  # JSON
    """What the kit answered of a round.

    Raises:
        CommandFailed: that was not the kit.
    """
    match answer:
        case {"round": int(number)}:
            return Discovery(number, cast("dict[str, Any]", answer))
        case _:
            raise CommandFailed("Runtime.evaluate", "the page broke the shim")


def why_undiscoverable(realm: Realm, settings: PageSettings) -> str | None:
    """Why a document is never asked for tools, or None where it is."""
    if realm.scheme in settings.schemes:
        if realm.scheme == "file" and not settings.folders.has_page(realm.origin):
            return "this page is a file in none of the folders that an agent may use; --allow-dir adds one"
        reason = settings.origins.why_not(realm.origin)
        return None if reason is None else f"this page is of {realm.origin}, and {reason}"
    kind = "an opaque origin" if realm.is_opaque else f"a {realm.scheme}: address"
    hint = "; --allow-file adds files" if realm.scheme == "file" else ""
    return f"tools are looked for on http and https pages, and this one has {kind}{hint}"


def is_wanted(realm: Realm, main: Realm | None, settings: PageSettings) -> bool:
    """Whether the tools of a frame's document count, `main` being the document of the page itself."""
    if why_undiscoverable(realm, settings) is not None:
        return False
    match settings.frames:
        case "none":
            return False
        case "same-origin":
            return main is not None and realm.origin == main.origin
        case "all":
            return True
