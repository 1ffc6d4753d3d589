"""Pages that register tools with `document.modelContext`, and shorthand for tests about them."""

from bridge.page.session import Page
from bridge.wire.commands import runtime

FORM = "<form id=form toolname={name} tooldescription=Search {more}><input name=q required><button>Go</button></form>"


def registering(*tools: str, more: str = "") -> str:
    """A page script that registers these tools, given as JavaScript object literals.

    The page has `ran` for tools to write down their runs, `register`, and `swap`, which puts a tool in the place of
    what was registered last.
    """
    return f"""<script>
      window.ran = [];
      window.register = (tool, options) => document.modelContext.registerTool(tool, options);
      window.last = new AbortController();
      window.swap = tool => {{ last.abort(); last = new AbortController(); register(tool, {{signal: last.signal}}) }};
      for (const tool of [{", ".join(tools)}]) register(tool, {{signal: last.signal}});
      {more}</script>"""


def claiming(name: str, annotations: str) -> str:
    """A tool with annotations, as a JavaScript object literal."""
    return f"{{name: {name!r}, description: 'A tool', annotations: {annotations}, execute: () => {name!r}}}"


async def evaluate(page: Page, expression: str) -> object:
    """What the expression gives in the page, awaited."""
    result, thrown = await page._session.run(runtime.evaluate(expression, await_promise=True, return_by_value=True))
    assert thrown is None, thrown
    return result.value
