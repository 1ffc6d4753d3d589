"""Which tools exist now: an immutable snapshot for each page, replaced whole."""

from collections.abc import Mapping
from types import MappingProxyType

import trio

from bridge.tools.tool import PageTools


class Registry:
    """The present tools of every page. `version` rises with each real change, and with nothing else."""

    def __init__(self) -> None:
        self._by_page: dict[str, PageTools] = {}
        self._version = 0
        self._changed = trio.Event()

    @property
    def version(self) -> int:
        return self._version

    @property
    def snapshot(self) -> Mapping[str, PageTools]:
        return MappingProxyType(self._by_page)

    def find(self, page: str) -> PageTools | None:
        """What the page's present document offers, or None where it was not asked yet."""
        return self._by_page.get(page)

    def publish(self, tools: PageTools) -> bool:
        """Replace what a page offers; True where that changed anything for an agent.

        An equal answer still replaces the old one, whose captured functions the page has let go.
        """
        old = self._by_page.get(tools.page)
        self._by_page = {**self._by_page, tools.page: tools}
        changed = old is None or not tools.says_the_same_as(old)
        if changed:
            self._count_change()
        return changed

    def withdraw(self, page: str) -> None:
        """The page's document ended, so its tools did."""
        if page in self._by_page:
            self._by_page = {key: tools for key, tools in self._by_page.items() if key != page}
            self._count_change()

    def clear(self) -> None:
        """No page is there any more."""
        if self._by_page:
            self._by_page = {}
            self._count_change()

    async def wait_change(self, version: int) -> int:
        """Block until there is another version than this one, and return it.

        However slow its caller is, nothing is queued for it, and it does not miss the last change.
        """
        while self._version == version:
            await self._changed.wait()
        return self._version

    def _count_change(self) -> None:
        self._version += 1
        self._changed.set()
        self._changed = trio.Event()
