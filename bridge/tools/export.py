"""A page's schema as every MCP client and LLM API accepts it. What calls are checked against stays the page's own."""

from typing import Any, Final

from bridge.settings import SchemaProfile
from bridge.tools.plain_schema import ANNOTATIONS, Schema, described
from bridge.tools.schema import CheckedSchema
from bridge.tools.shape import Shape, shape_of
from bridge.tools.strict import narrow
from bridge.tools.translate import translate

NOTHING_FITS: Final = "No arguments fit the page's own schema."


def export_schema(schema: CheckedSchema, profile: SchemaProfile = "standard") -> dict[str, Any]:
    """A 2020-12 schema with an object at its root, without references, and without combinators at the root.

    Every object that fits the page's schema fits it too. It is shared: not to be changed.

    Args:
        profile: `strict` also leaves out what the pickiest APIs refuse. There null is named in words alone.
    """
    if profile not in schema.exports:
        schema.exports[profile] = narrow(export_schema(schema)) if profile == "strict" else _export(schema)
    return schema.exports[profile]


def _export(schema: CheckedSchema) -> Schema:
    translated = translate(schema)
    shape = shape_of(translated)
    told = {name: value for name, value in translated.items() if name in ANNOTATIONS}
    notes = shape.notes if shape else [NOTHING_FITS]
    return {**described(told, *notes), **(shape or Shape()).as_schema()}
