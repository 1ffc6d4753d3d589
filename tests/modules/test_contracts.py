"""The forms that a module may have, and what is said of one that has none of them."""

import pytest

from tests.modules.project import Project

OBJECT = """
class Tool:
    description = "adds"
    parameters = {"type": "object"}

    def execute(self, args, context):
        return args["a"] + args["b"] if context.session_id else None

tool = Tool()
"""
FORMS = {
    "an object": OBJECT,
    "a class": OBJECT.replace("tool = Tool()", "tool = Tool"),
    "a dict": """
        tool = {"description": "adds", "parameters": {"type": "object"},
                "execute": lambda args, context: args["a"] + args["b"]}
    """,
    "the module itself": """
        description = "adds"
        parameters = {"type": "object"}

        async def execute(args, context):
            return args["a"] + args["b"]
    """,
    "a factory": f"""{OBJECT}
del tool
def tools(api):
    return Tool()
    """,
    "a factory that takes nothing": f"""{OBJECT}
del tool
def tools():
    return [Tool()]
    """,
    "an async factory": f"""{OBJECT}
del tool
async def tools(api):
    return (Tool(),)
    """,
    "a generator": f"""{OBJECT}
del tool
def tools(api):
    asyncio = __import__("asyncio")
    asyncio.run(asyncio.sleep(0))
    yield Tool()
    """,
    "an async generator": f"""{OBJECT}
del tool
async def tools(api):
    yield Tool()
    """,
    "what a generator has": f"""{OBJECT}
del tool
tools = (Tool() for _ in range(1))
    """,
    "the form with an id": """
        description = "adds"
        parameters = {"type": "object"}

        async def execute(tool_call_id, params, on_update, ctx, signal):
            assert isinstance(tool_call_id, str) and ctx.signal is signal and not signal.aborted
            return params["a"] + params["b"]
    """,
    "the form with an id, in part": """
        description = "adds"
        parameters = {"type": "object"}

        def execute(toolCallId, params):
            return params["a"] + params["b"]
    """,
    "the form with an id, under other names": """
        description = "adds"
        parameters = {"type": "object"}

        def execute(call, values, update, context):
            update("adds")
            return values["a"] + values["b"]
    """,
    "arguments alone": """
        description = "adds"
        parameters = {"type": "object"}

        def execute(args):
            return args["a"] + args["b"]
    """,
    "any arguments": """
        description = "adds"
        parameters = {"type": "object"}

        def execute(*given):
            return given[0]["a"] + given[0]["b"]
    """,
    "a promise": """
        description = "adds"
        parameters = {"type": "object"}

        async def add(args):
            return args["a"] + args["b"]

        def execute(args, context):
            return add(args)
    """,
}


@pytest.mark.feature("modules.forms")
async def test_a_tool_runs_whatever_form_it_has(project: Project):
    for form, source in FORMS.items():
        project.add(f"tools/{form.replace(' ', '_')}.py".replace(",", ""), source)

    async with project.open() as opened:
        assert opened.problems == ""
        assert len(opened.names) == len(FORMS)
        for name in opened.names:
            assert await opened.call(name, a=1, b=2) == 3, name


@pytest.mark.feature("modules.forms")
async def test_the_module_says_what_is_to_be_known_of_its_tool(project: Project):
    project.add(
        "tools/many.py",
        """
        def tools(api):
            def run(args, context):
                return None
            plain = {"name": "plain", "description": "d", "parameters": {"type": "object"}, "execute": run}
            reads = {**plain, "name": "reads", "label": "Reads", "read_only": True, "page_derived": True}
            develops = {**plain, "name": "develops", "title": "Develops", "mode": "dev", "hidden": True, "coerce": True}
            return [plain, reads, develops]
        """,
    )

    async with project.open() as opened:
        plain, reads, develops = opened.modules.tools
        assert (plain.name, plain.title, plain.mode, plain.read_only, plain.hidden) == (
            "plain",
            "",
            "act",
            False,
            False,
        )
        assert (reads.title, reads.mode, reads.read_only, reads.page_derived) == ("Reads", "ask", True, True)
        assert (develops.title, develops.mode, develops.hidden) == ("Develops", "dev", True)
        assert [tool.coerce for tool in (plain, reads, develops)] == [False, False, True]
        assert {tool.source for tool in opened.modules.tools} == {"tools/many.py"}
        assert plain.parameters == {"type": "object"}


@pytest.mark.feature("modules.forms")
async def test_a_factory_has_words_for_its_schema(project: Project):
    project.add(
        "tools/made.py",
        """
        def tools(api):
            of = api.schema
            unit = of.string("In which", ("C", "F"), default=None)
            size = of.object({"from": of.number(minimum=0)}, to=of.number("Up to"))
            parameters = of.object(unit=unit, optional={"size": size, "all": of.boolean(type=["boolean", "null"])})
            listed = {"type": "object", "of": [of.array(of.integer(), "Days", maxItems=7), of.object()]}
            plain = {"description": "d", "execute": lambda args: args}
            return [
                {**plain, "name": "made", "parameters": parameters},
                {**plain, "name": "listed", "parameters": listed},
            ]
        """,
    )

    async with project.open() as opened:
        made, listed = (tool.parameters for tool in opened.modules.tools)
    number = {"type": "number"}
    assert made == {
        "type": "object",
        "properties": {
            "unit": {"type": "string", "description": "In which", "enum": ["C", "F"], "default": None},
            "size": {
                "type": "object",
                "properties": {"from": {**number, "minimum": 0}, "to": {**number, "description": "Up to"}},
                "required": ["from", "to"],
                "additionalProperties": False,
            },
            "all": {"type": ["boolean", "null"]},
        },
        "required": ["unit"],
        "additionalProperties": False,
    }
    assert listed["of"] == [
        {"type": "array", "description": "Days", "items": {"type": "integer"}, "maxItems": 7},
        {"type": "object", "properties": {}, "required": [], "additionalProperties": False},
    ]


@pytest.mark.feature("modules.forms")
async def test_a_pydantic_model_stands_for_its_schema(project: Project):
    project.add(
        "tools/add.py",
        """
        from pydantic import BaseModel

        class parameters(BaseModel):
            a: int

        description = "d"
        def execute(args): return args["a"]
        """,
    )

    async with project.open() as opened:
        assert opened.modules.tools[0].parameters["required"] == ["a"]


UNUSABLE = {
    "nothing": ("x = 1", "exports no tool"),
    "both": ("tool = tools = 1", "both `tool` and `tools`"),
    "no description": ("parameters = {'type': 'object'}\ndef execute(args): ...", "`description` must be"),
    "a blank description": ("description = ' '\ndef execute(args): ...", "`description` must be"),
    "a long description": ("description = 'x' * 1001\ndef execute(args): ...", "1,001 characters"),
    "no execute": ("tool = {'description': 'd', 'parameters': {'type': 'object'}}", "`execute` must be a function"),
    "no function": (
        "tool = {'description': 'd', 'parameters': {'type': 'object'}, 'execute': 1}",
        "`execute` must be a function, and not int",
    ),
    "no parameters": ("description = 'd'\ndef execute(args): ...", '"type": "object"'),
    "parameters of another type": (
        "description = 'd'\nparameters = {'type': 'array'}\ndef execute(args): ...",
        '"type": "object"',
    ),
    "parameters that are no schema": (
        "description = 'd'\nparameters = {'type': 'object', 'properties': 1}\ndef execute(args): ...",
        "`parameters` of 'bad9' in tools/bad9.py can't be used",
    ),
    "parameters that are no JSON": (
        "description = 'd'\nparameters = {'type': 'object', 'default': {1, 2}}\ndef execute(args): ...",
        "is a set",
    ),
    "takes nothing": ("description = 'd'\nparameters = {'type': 'object'}\ndef execute(): ...", "takes nothing"),
    "takes six": (
        "description = 'd'\nparameters = {'type': 'object'}\ndef execute(a, b, c, d, e, f): ...",
        "asks for 'f'",
    ),
    "takes a keyword": (
        "description = 'd'\nparameters = {'type': 'object'}\ndef execute(args, *, retries): ...",
        "asks for 'retries'",
    ),
    "a wrong mode": (
        "description = 'd'\nmode = 'all'\nparameters = {'type': 'object'}\ndef execute(args): ...",
        "`mode` must be one of ask, act, dev",
    ),
    "a wrong flag": (
        "description = 'd'\nhidden = 'no'\nparameters = {'type': 'object'}\ndef execute(args): ...",
        "`hidden` must be True or False",
    ),
    "a wrong hook": (
        "description = 'd'\non_result = 1\nparameters = {'type': 'object'}\ndef execute(args): ...",
        "`on_result` must be a function",
    ),
    "an empty list": ("def tools(api): return []", "Its list of tools is empty"),
    "a list with something else": ("def tools(api): return [1, 2]", "Tool 0 is of the type `int`"),
    "too many": ("def tools(api): return [1] * 26", "26 tools, and 25 are allowed"),
    "a bad name": (
        "name = 'Bad-Name'\ndescription = 'd'\nparameters = {'type': 'object'}\ndef execute(args): ...",
        "names a tool 'Bad-Name'",
    ),
    "many without names": (
        "t = {'description': 'd', 'parameters': {'type': 'object'}, 'execute': print}\ntools = [t, t]",
        "give each a `name`",
    ),
    "one name twice": (
        "t = {'name': 'a', 'description': 'd', 'parameters': {'type': 'object'}, 'execute': print}\ntools = [t, t]",
        "two tools named 'a'",
    ),
    "it raises": ("1 / 0", "ZeroDivisionError: division by zero"),
    "its syntax is wrong": ("\n\ndef :", "line 3 of bad24.py: "),
    "it lacks a library": ("import absent_library", "No module named 'absent_library'"),
    "a factory that raises": ("def tools(api): raise LookupError('gone')", "LookupError: gone"),
    "a factory that asks": ("def tools(api): api.exec(['ls'])", "api.exec is there while a tool runs"),
    "it has a NUL": ("x = 1\0", "null bytes"),
    "an error whose message fails": (
        "class Bad(Exception):\n    def __str__(self): raise RuntimeError\nraise Bad",
        "its message can't be made",
    ),
    "a function as a tool": (
        "def tool(api): return {}",
        "Its tool is of the type `function`, and has no `description`, `parameters` and `execute`: give an object or a "
        "dict that has them; a function that makes tools is named `tools`.",
    ),
    "a factory that returns nothing": ("def tools(api): ...", "is of the type `NoneType`"),
    "a factory that returns another": ("async def tools(api): return lambda: []", "is of the type `function`"),
    "tools by their names": ("tools = {'one': 1}", "is of the type `dict`"),
    "a generator without tools": ("def tools(api): yield from []", "Its list of tools is empty"),
    "an async generator that raises": ("async def tools(api): yield 1 / 0", "ZeroDivisionError"),
}


@pytest.mark.feature("modules.forms")
async def test_a_module_that_is_none_is_skipped_with_its_reason_and_the_others_load(project: Project):
    for number, (source, _) in enumerate(UNUSABLE.values()):
        project.add(f"tools/bad{number}.py", source)
    project.add_tool("good", "return 'well'")

    async with project.open() as opened:
        assert opened.names == ["good"]
        assert await opened.call("good") == "well"
        failed = opened.modules.failed
    for number, (one, (form, (_, says))) in enumerate(zip(failed, UNUSABLE.items(), strict=True)):
        assert (one.label, one.name) == (f"tools/bad{number}.py", "")
        assert says in one.reason, form


@pytest.mark.feature("modules.changes")
async def test_a_module_may_import_what_is_beside_it_and_never_what_hides_pythons_own(project: Project):
    project.write("tools/beside.py", "VALUE = 'beside'")
    project.write("tools/colorsys.py", "raise RuntimeError('it is not wanted')")
    project.add_tool(
        "reads",
        "return [beside.VALUE, VALUE, relative.VALUE, colorsys.rgb_to_yiq(0, 0, 0)[0], __name__, directory]",
        head="""
        import colorsys, os
        import beside
        from beside import VALUE
        from . import beside as relative
        directory = os.getcwd()
        """,
    )

    async with project.open() as opened:
        assert await opened.call("reads") == ["beside"] * 3 + [0.0, "project_tools.reads", str(project.folder)]
        assert not list(project.folder.rglob("__pycache__"))


@pytest.mark.feature("modules.names")
async def test_a_name_belongs_to_the_manifest_then_to_the_module_then_to_the_file(project: Project):
    named = "name = 'own'\ndescription = 'd'\nparameters = {'type': 'object'}\ndef execute(args): return 1"
    project.add("tools/first.py", named, name="declared")
    project.add("tools/second.py", named)
    project.add_tool("third", "return 1")

    async with project.open() as opened:
        assert opened.names == ["declared", "own", "third"]


async def test_a_file_is_loaded_once_or_once_for_each_name(project: Project):
    named = "description = 'd'\nparameters = {'type': 'object'}\ndef execute(args): return 1"
    for name in ("", "one", "", "two", "one"):
        project.add("tools/first.py", named, name=name)
    project.add("tools/second.py", named)
    project.add("tools/second.py", named)

    async with project.open() as opened:
        assert opened.names == ["one", "two", "second"]
        assert opened.problems == ""


@pytest.mark.feature("modules.names")
async def test_a_name_is_given_once_and_a_built_in_only_by_the_manifest(project: Project):
    named = "name = {!r}\ndescription = 'd'\nparameters = {{'type': 'object'}}\ndef execute(args): return {!r}"
    project.add("tools/first.py", named.format("same", "first"))
    project.add("tools/second.py", named.format("same", "second"))
    project.add("tools/third.py", named.format("click", "third"))
    project.add("tools/fourth.py", named.format("other", "fourth"), name="hover")

    async with project.open(taken=("click", "hover")) as opened:
        assert opened.names == ["same", "hover"]
        assert await opened.call("same") == "first"
        assert await opened.call("hover") == "fourth"
        second, third = (failed.reason for failed in opened.modules.failed)
        assert "tools/second.py has a tool 'same', and so has tools/first.py" in second
        assert "tools/third.py has a tool 'click', and so has the bridge" in third


async def test_a_module_finds_python_in_its_process_and_nothing_that_we_need(project: Project):
    project.add_tool("names", "return sorted({name.partition('.')[0] for name in sys.modules})", head="import sys")

    async with project.open() as opened:
        names = set(await opened.call("names"))
    assert {"bridge", "asyncio"} <= names
    assert not {"trio", "anyio", "mcp", "pydantic", "jsonschema", "click", "rich", "cdp"} & names
