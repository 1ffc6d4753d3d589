"""Which tools exist now: an immutable snapshot for each page, replaced whole."""

from collections.abc import Mapping
from types import MappingProxyType

from bridge.tools.tool import PageTools


class Registry:
    """The present tools of every page. `version` rises with each real change, and with nothing else."""

    def __init__(self) -> None:
        self._by_page: dict[str, PageTools] = {}
        self.version = 0

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
        self.version += changed
        return changed

    def withdraw(self, page: str) -> None:
        """The page's document ended, so its tools did."""
        if page in self._by_page:
            self._by_page = {key: tools for key, tools in self._by_page.items() if key != page}
            self.version += 1
