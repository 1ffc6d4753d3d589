"""Where a page is, and whether it has moved since."""

from typing import NamedTuple


class Place(NamedTuple):
    """Where a page was at some moment.

    Attributes:
        moves: how many navigations its main frame had made, also those within one document.
        documents: how many of these brought another document.
        has_document: there was one, and not only the way to the next.
    """

    url: str
    moves: int
    documents: int
    has_document: bool = True

    def navigated_to(self, now: "Place") -> dict[str, str] | None:
        """What a later look at the page tells of a navigation: `{from, to, kind}`, or None where there was none.

        `kind` is `document` (another address), `reload` (the same one anew) or `same-document` (history or fragment).
        """
        if now.documents != self.documents:
            if now.url == self.url and not self.moves and not self.has_document:
                return None  # it was on its way when we met it, and has arrived
            kind = "reload" if now.url == self.url else "document"
        elif now.moves != self.moves:
            kind = "same-document"
        else:
            return None
        return {"from": self.url, "to": now.url, "kind": kind}
