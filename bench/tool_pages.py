"""The page on which speed is measured: tools as real ones are, in any number."""

from typing import Final

from tests.sites import Site, offering, tool

ADD: Final = tool(
    "add",
    "({a, b}) => a + b",
    "{type: 'object', properties: {a: {type: 'number'}, b: {type: 'number'}}, required: ['a', 'b'], "
    "additionalProperties: false}",
    "Add two numbers",
)
TEXT: Final = tool(
    "text",
    "({size}) => 'x'.repeat(size)",
    "{type: 'object', properties: {size: {type: 'integer', minimum: 0}}, required: ['size']}",
    "A text of that many characters",
)
TYPICAL_SCHEMA: Final = """{
  "type": "object",
  "properties": {
    "query": {"type": "string", "minLength": 1, "description": "Words to look for"},
    "status": {"enum": ["open", "paid", "sent", "returned"], "default": "open"},
    "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10},
    "customer": {
      "type": "object",
      "properties": {"id": {"type": "string", "pattern": "^c[0-9]+$"}, "name": {"type": "string"}},
      "required": ["id"]
    },
    "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 20}
  },
  "required": ["query"],
  "additionalProperties": false
}"""
TYPICAL_ARGUMENTS: Final = {
    "query": "blue shoes",
    "limit": 20,
    "customer": {"id": "c1042", "name": "Ada"},
    "tags": ["urgent", "gift"],
}
FIND: Final = "async ({query, limit}) => ({query, limit, orders: []})"
CLOCK: Final = """<p id=clock></p><script>
setInterval(() => { clock.textContent = new Date().toISOString() }, 1000)</script>"""
"""Something goes on in the page, and nothing that concerns its tools."""


def serve_tools(site: Site, count: int) -> str:
    """Serve a page with so many tools, the first of which are `add` and `text`; return its URL."""
    found = [tool(f"findOrders{number}", FIND, TYPICAL_SCHEMA, "Find orders of the shop") for number in range(2, count)]
    return site.page(f"/tools/{count}", CLOCK + offering(ADD, TEXT, *found))
