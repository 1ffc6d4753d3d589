"""The pages on which two bridges are compared: each a way in which real pages offer tools."""

from dataclasses import dataclass

from tests.sites import Site, offering, tool


@dataclass(frozen=True)
class Sample:
    """One page.

    Attributes:
        what: how it offers its tools.
        first: the tools that are there once it has loaded, in order; a name twice is two tools.
        then: the tools that are there a little later, where that is different.
        act: a tool to call between the two looks.
    """

    what: str
    path: str
    html: str
    first: tuple[str, ...]
    then: tuple[str, ...] | None = None
    act: str | None = None

    @property
    def last(self) -> tuple[str, ...]:
        return self.first if self.then is None else self.then


def answering(script: str) -> str:
    """A page script that runs `script` with each `event`."""
    return f"<script>addEventListener('devtoolstooldiscovery', async event => {{ {script} }})</script>"


def group(name: str, *, of: str = "Group") -> str:
    """A tool group with one tool, as a JavaScript literal."""
    return f"{{name: {of!r}, description: 'For tests', tools: [{simple(name, of=of)}]}}"


def simple(name: str, *, of: str = "Group") -> str:
    return tool(name, f"() => '{name} of {of}'")


WAIT = "await new Promise(done => setTimeout(done, 200));"
LATE = f"""<script>addEventListener('load', () => setTimeout(() =>
  addEventListener('devtoolstooldiscovery', event => event.respondWith({group("late")})), 500))</script>"""
PROMISE = f"event.respondWith((async () => {{ {WAIT} return {group('promised')} }})())"
BOTH = f"event.respondWith({group('first', of='First')}); {WAIT} event.respondWith({group('second', of='Second')})"
TWINS = f"event.respondWith({group('same', of='A')}); event.respondWith({group('same', of='B')})"
THROWS = "<script>addEventListener('devtoolstooldiscovery', () => { throw new Error('no') })</script>"
CHANGES = """<script>let route = 'home'; window.leave = () => { route = 'away' }</script>""" + answering(
    """event.respondWith({name: route, tools: [
      {name: 'at_' + route, description: '', inputSchema: {}, execute: () => route},
      {name: 'leave', description: '', inputSchema: {}, execute: () => leave()}]})"""
)


def make_samples(site: Site) -> list[Sample]:
    """Every sample, and its page on the site."""
    inner = site.page("/inner", offering(simple("inner")))
    other = inner.replace(site.origin, site.elsewhere().origin)
    samples = [
        Sample("answers at once", "/sync", offering(simple("sync")), ("sync",)),
        Sample("adds its listener 500 ms after it has loaded", "/late", LATE, (), ("late",)),
        Sample(
            "answers after an `await` of 200 ms",
            "/async",
            answering(f"{WAIT} event.respondWith({group('async')})"),
            ("async",),
        ),
        Sample("answers with a Promise", "/promise", answering(PROMISE), ("promised",)),
        Sample("answers with one group at once and one 200 ms later", "/both", answering(BOTH), ("first", "second")),
        Sample(
            "has a group of three, whose second tool is broken",
            "/bad",
            offering(simple("one"), tool("two", "42"), simple("three")),
            ("one", "three"),
        ),
        Sample("has two groups with a tool of the same name", "/twins", answering(TWINS), ("same", "same")),
        Sample(
            "has tools, and so has an iframe of its origin",
            "/frame",
            f"{offering(simple('outer'))}<iframe src={inner}></iframe>",
            ("outer", "inner"),
        ),
        Sample(
            "has tools, and so has an iframe of another site",
            "/elsewhere",
            f"{offering(simple('outer'))}<iframe src={other}></iframe>",
            ("outer", "inner"),
        ),
        Sample(
            "has one listener that throws and one that answers",
            "/throws",
            THROWS + offering(simple("beside")),
            ("beside",),
        ),
        Sample(
            "changes its answer when its tool `leave` is called",
            "/changes",
            CHANGES,
            ("at_home", "leave"),
            ("at_away", "leave"),
            "leave",
        ),
        Sample("offers nothing", "/plain", "<p>Nothing", ()),
    ]
    for sample in samples:
        site.page(sample.path, sample.html)
    return samples
