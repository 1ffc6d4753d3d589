"""A built-in tool as a module: readable, and the same tool until somebody changes it."""

import ast
import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bridge.calls.built_ins import BY_NAME, browser_tools
from bridge.manifest.module import has_one_tool
from bridge.manifest.template import _literal, module_of_built_in
from bridge.tools.modules.child.contract import read_exported

TOOLS = (*BY_NAME.values(), *browser_tools().values())
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
JSON = st.recursive(
    SCALARS | st.text(min_size=80), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20
)


@given(JSON)
@example({"a" * 100: ""})
@example({"a" * 100: []})
@example(["a" * 100, {}])
def test_whatever_json_says_is_written_as_python_says_it(value: Any):
    assert ast.literal_eval(_literal(value)) == value


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
async def test_a_module_says_what_its_built_in_tool_says_and_calls_it(tool: Any, tmp_path: Path):
    source = module_of_built_in(tool, mode=getattr(tool, "mode", "ask"))
    (tmp_path / f"{tool.name}.py").write_text(source, encoding="utf-8")
    module = SimpleNamespace(**runpy.run_path(str(tmp_path / f"{tool.name}.py")))

    [exported] = read_exported(module, module).tools  # type: ignore[arg-type]  # as good as a module

    same = {name: getattr(tool, name) for name in ("title", "description", "parameters", "read_only")}
    assert {name: exported.facts[name] for name in same} == same
    assert exported.facts["mode"] == getattr(tool, "mode", "ask")
    assert not exported.has_call_id
    asked: list[tuple[str, object]] = []

    async def call(name: str, args: object) -> str:
        asked.append((name, args))
        return "done"

    context = SimpleNamespace(page=SimpleNamespace(call=call))
    assert await exported.execute({"a": 1}, context) == "done"
    assert asked == [(f"builtin:{tool.name}", {"a": 1})]
    assert has_one_tool(source.encode())
    assert max(map(len, source.splitlines())) <= 100


def test_long_values_are_broken_into_lines_and_short_ones_are_not():
    fits = {"x": "y" * (100 - len('    "a": {"x": ""},'))}
    value = {"a": fits, "b": {"type": "string", "description": "word " * 30}, "c": {"x": f"{fits['x']}y"}}
    assert _literal(value).splitlines() == [
        "{",
        f'    "a": {{"x": "{fits["x"]}"}},',
        '    "b": {',
        '        "type": "string",',
        '        "description": (',
        f'            "{"word " * 17}"',
        f'            "{"word " * 13}"',
        "        ),",
        "    },",
        '    "c": {',
        f'        "x": "{fits["x"]}y",',
        "    },",
        "}",
    ]
