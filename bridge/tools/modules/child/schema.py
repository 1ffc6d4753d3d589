"""JSON Schemas in few words, for factories: `api.schema.object(city=api.schema.string("Where"))`."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, Final

Schema = dict[str, Any]
_NONE: Final[Mapping[str, Schema]] = {}


def _of_type(name: str, /, description: str = "", **more: Any) -> Schema:  # noqa: ANN401  # JSON
    said = {"description": description} if description else {}
    return {"type": name, **said, **more}


class SchemaWords:
    """A word for each type. Each takes further keywords as they are, such as `minimum=1`; only in `object` they are
    properties."""

    number = staticmethod(partial(_of_type, "number"))
    integer = staticmethod(partial(_of_type, "integer"))
    boolean = staticmethod(partial(_of_type, "boolean"))

    @staticmethod
    def string(description: str = "", enum: Iterable[str] | None = None, **more: Any) -> Schema:  # noqa: ANN401  # JSON
        chosen = {} if enum is None else {"enum": [*enum]}
        return _of_type("string", description, **chosen, **more)

    @staticmethod
    def array(items: Schema, description: str = "", **more: Any) -> Schema:  # noqa: ANN401  # JSON
        return _of_type("array", description, items=items, **more)

    @staticmethod
    def object(
        properties: Mapping[str, Schema] = _NONE, /, *, optional: Mapping[str, Schema] = _NONE, **more: Schema
    ) -> Schema:
        """An object that must have these properties, may have the optional ones, and has no others.

        Args:
            properties: those that can't be written as `name=schema`.
        """
        required = {**properties, **more}
        return _of_type("object", properties={**required, **optional}, required=[*required], additionalProperties=False)
