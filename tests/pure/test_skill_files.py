"""A skill's file becomes a skill, or a sentence with a line for each thing that is wrong with it."""

import json
from hashlib import sha256
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge import limits
from bridge.tools.schema import check_schema
from bridge.tools.skills.load import check_skills, read_skill
from bridge.tools.skills.network import Network
from bridge.tools.skills.offer import offer_skill_tool
from bridge.tools.skills.run import Reach
from bridge.tools.skills.skill import Skill
from tests.skills import LOOK_UP, ORDER, ORIGIN, read, told, tool_of, without, write


def skill(text: str, **options: Any) -> Skill:
    reading = read(text, **options)
    assert reading.skill is not None, told(reading)
    return reading.skill


def errors(text: str) -> list[str]:
    reading = read(text)
    assert reading.skill is None
    return [line for line in told(reading) if " error " in line]


def error(tool: dict[str, Any]) -> str:
    (line,) = errors(write(tool))
    assert line.endswith(".")
    return line


# What a skill is


@pytest.mark.feature("skills.declared")
def test_a_skill_is_its_text_and_its_tools():
    text = write(LOOK_UP, ORDER)

    found = skill(text)

    assert (found.name, found.title, found.summary) == ("tides", "Tides", "Ask before you sail.")
    assert found.text == "# Tides\n\nAsk before you sail."
    assert [tool.name for tool in found.tools] == ["tide_now", "tide_chart"]
    assert found.sha256 == sha256(text.encode()).hexdigest()
    assert "https://" not in found.prompt
    assert found.prompt.startswith(
        "This is the skill 'tides', from the file skills/tides.md; pagebridge did not write it."
    )


@pytest.mark.feature("skills.declared")
@pytest.mark.parametrize("fence", ["webbrain-tools", "wb-tools", "pagebridge-tools", "Pagebridge-Tools"])
def test_tools_stand_in_a_fence_of_any_of_its_names(fence: str):
    assert skill(write(LOOK_UP, fence=fence)).tools[0].name == "tide_now"


@pytest.mark.feature("skills.declared")
def test_a_fence_may_hold_a_bare_list_and_there_may_be_several():
    one, other = json.dumps([LOOK_UP]), json.dumps({"tools": [ORDER]})

    found = skill(f"Before.\n```wb-tools\n{one}\n```\nBetween.\n~~~~ webbrain-tools\n{other}\n~~~~~\nAfter.")

    assert [tool.name for tool in found.tools] == ["tide_now", "tide_chart"]
    assert found.text == "Before.\nBetween.\nAfter."


def test_a_skill_says_of_itself_what_it_is_for_and_when_it_is_offered():
    about = {"summary": "Tides of all seas", "modes": ["act"], "intents": ["tide_height", "sailing"]}

    found = skill(f"```webbrain-skill\n{json.dumps(about)}\n```\n{write(LOOK_UP)}")

    assert (found.summary, found.intents) == ("Tides of all seas", ("tide_height", "sailing"))
    assert found.tools[0].mode == "act"
    assert "tide_height" not in found.text


def test_the_front_matter_has_a_summary_and_is_no_part_of_the_text():
    found = skill(f"---\nname: ignored\ndescription: 'When the water comes'\nother: [1]\n---\n{write(LOOK_UP)}")

    assert (found.name, found.summary) == ("tides", "When the water comes")
    assert found.text.startswith("# Tides")


@pytest.mark.parametrize("mark", [">", "|", ">-", "|2+"])
def test_a_summary_may_stand_in_a_block(mark: str):
    found = skill(f"---\ndescription: {mark}\n  When the water\n\n  comes\nname: x\n---\n{write(LOOK_UP)}")

    assert found.summary == "When the water comes"


@pytest.mark.parametrize("fence", ["webbrain-tools{json}", "{.pagebridge-tools}", "json wb-tools"])
def test_a_fence_that_has_more_than_its_name_is_told_of_and_not_read(fence: str):
    reading = read(write(LOOK_UP, fence=fence))

    assert told(reading) == ["5 warning This fence is not read: write the name right behind ```, and nothing else."]
    assert reading.skill is not None
    assert reading.skill.tools == ()


@pytest.mark.feature("skills.modes")
def test_a_tool_is_offered_with_what_its_kind_and_its_skill_say():
    look_up, order = tool_of(LOOK_UP), tool_of(ORDER)

    assert (look_up.mode, look_up.tier, look_up.read_only, look_up.wants_trust) == ("ask", "compact", True, False)
    assert (order.mode, order.read_only, order.method) == ("act", False, "POST")
    assert (look_up.title, look_up.source, look_up.skill) == ("Tide now", "skills/tides.md", "tides")
    assert order.job is not None
    assert (order.job.id_field, order.job.poll_seconds, order.job.seconds) == ("job_id", 1.0, 90.0)
    assert tool_of({**LOOK_UP, "modes": ["dev", "act"], "tiers": ["full"]}).mode == "act"
    assert tool_of({**LOOK_UP, "tiers": ["full", "mid"]}).tier == "mid"


def test_a_job_may_be_declared_on_the_tool_itself():
    flat = {**without(ORDER, "job"), **ORDER["job"], "jobIdField": "id", "pollIntervalMs": 500, "timeoutMs": 6000}

    job = tool_of(flat).job

    assert job is not None
    assert (job.id_field, job.poll_seconds, job.seconds) == ("id", 0.5, 6.0)


@pytest.mark.feature("skills.arguments")
def test_an_agent_gets_a_closed_schema_with_the_defaults_in_it():
    tool = tool_of({**LOOK_UP, "defaultArgs": {"place": "Brest", "unit": "m"}})

    assert tool.parameters == {
        "type": "object",
        "properties": {
            "place": {"type": "string", "description": "Of a harbour.", "default": "Brest"},
            "days": {"type": "integer", "description": "From today."},
        },
        "additionalProperties": False,
    }
    assert tool.defaults == {"place": "Brest", "unit": "m"}


@pytest.mark.feature("skills.arguments")
@pytest.mark.parametrize("required", [{}, {"required": ["place"]}], ids=["none", "one"])
def test_a_schema_of_any_dialect_can_be_offered(required: dict[str, Any]):
    draft_4 = {"$schema": "http://json-schema.org/draft-04/schema#", **without(LOOK_UP["parameters"], "required")}

    tool = tool_of({**LOOK_UP, "parameters": {**draft_4, **required}, "defaultArgs": {"place": "Brest"}})

    assert check_schema(json.dumps(tool.parameters)).dialect == "Draft 4"


def test_parameters_that_can_not_be_offered_with_their_defaults_are_an_error():
    tool = {**LOOK_UP, "defaultArgs": {"place": "x" * limits.SCHEMA_CHARS}}

    assert "`parameters` can't be used with `defaultArgs` in them. The input schema has" in error(tool)


@pytest.mark.feature("skills.addresses")
def test_a_tool_that_wants_a_pages_address_takes_a_page():
    parameters = {"type": "object", "properties": {"url": {"type": "string"}}, "required": ["url"]}

    tool = tool_of({**LOOK_UP, "parameters": parameters, "activeTabUrlArg": "url"})

    assert "required" not in tool.parameters
    assert "Handle of a page" in tool.parameters["properties"]["page"]["description"]
    assert tool.description.endswith("With `page`, the address of that page is sent to api.tides.example.")


@pytest.mark.feature("skills.approval")
def test_a_person_is_told_what_a_skill_may_do_before_it_is_added():
    parameters = {"type": "object", "properties": {"url": {"type": "string"}}}
    look_up = {**LOOK_UP, "parameters": parameters, "activeTabUrlArg": "url", "resultPolicy": "trusted"}

    told_before = skill(write(look_up, ORDER)).consequences

    assert told_before == (
        "tide_now sends its arguments to https://api.tides.example.",
        "tide_now sends the address of a page there, with all that is in it.",
        "tide_now wants its results to be trusted, which it is not unless the manifest says so.",
        "tide_chart sends its arguments to https://api.tides.example.",
        "tide_chart keeps files that come from there in the folder for downloads.",
    )


# Where tools are not read


@pytest.mark.threat("S9")
@pytest.mark.parametrize(
    ("before", "after", "place"),
    [
        ("---\n", "---\n", "the front matter"),
        ("<!-- hidden\n", "-->\n", "a comment"),
        ("Text. <!-- hidden\n", "-->\n", "a comment"),
        ("<!-- one --> and <!--\n", "--> more\n", "a comment"),
        ("`a` <!-- `b`\n", "-->\n", "a comment"),
        ("````markdown\n", "````\n", "another fence"),
        ("~~~\n", "~~~\n", "another fence"),
        ("````webbrain-skills\n", "````\n", "another fence"),
    ],
    ids=[
        "front matter",
        "comment",
        "comment in a line",
        "second comment",
        "between code",
        "fence",
        "tildes",
        "name alike",
    ],
)
def test_a_fence_elsewhere_than_in_the_body_is_told_of_and_not_read(before: str, after: str, place: str):
    reading = read(f"{before}```webbrain-tools\n{json.dumps([LOOK_UP])}\n```\n{after}")

    assert reading.skill is not None
    assert reading.skill.tools == ()
    assert told(reading) == [
        f"2 warning This fence is in {place}, and is not read. Tools are declared in the body alone."
    ]


@pytest.mark.threat("S9")
@pytest.mark.parametrize("lead", ["    ", "> ", "- > ", "\t"])
def test_a_fence_that_is_indented_or_quoted_is_told_of_and_not_read(lead: str):
    reading = read(f"{lead}```wb-tools\n{lead}{json.dumps([LOOK_UP])}\n{lead}```\n")

    assert reading.skill is not None
    assert reading.skill.tools == ()
    assert "1 warning This fence is in an indented or quoted block" in told(reading)[0]


@pytest.mark.parametrize(
    "before",
    [
        "`<!--` begins a comment.",
        "``a`<!--`` does not.",
        "<!-- closed -->",
        "<!---->",
        "<!-->",
        "```\n<!--\n```",
        "Text.\n---",
    ],
)
def test_a_fence_behind_what_only_looks_like_a_comment_is_read(before: str):
    assert len(skill(f"{before}\n{write(LOOK_UP)}").tools) == 1


@pytest.mark.threat("S9")
def test_the_shorter_fence_within_a_longer_one_does_not_end_it():
    inner = f"```webbrain-tools\n{json.dumps([LOOK_UP])}\n```"

    reading = read(f"`````md\n```\n{inner}\n````\n`````\n")

    assert reading.skill is not None
    assert reading.skill.tools == ()


# What is wrong, and where


@pytest.mark.feature("skills.faults")
@pytest.mark.parametrize(
    ("change", "line", "sentence"),
    [
        ({"name": "Tide-now"}, 9, "`name` must be a lower-case letter"),
        ({"name": "t" * 65}, 9, "`name` must be a lower-case letter"),
        ({"name": "page_tide"}, 9, "`name` begins with `page_`"),
        ({"name": 3}, 9, "`name` must be a string, not 3"),
        ({"name": ""}, 9, "`name` is empty"),
        ({"description": "a\nb"}, 10, "`description` has U+000A in it"),
        ({"description": "a\u202eb"}, 10, "`description` has U+202E in it"),
        ({"description": "x" * 1001}, 10, "`description` has 1,001 characters, and 1,000 are allowed"),
        ({"kind": "grpc"}, 11, '`kind` is "grpc", and there are http and httpDownloadJob alone'),
        ({"endpoint": "http://api.tides.example/"}, 12, "`endpoint` is not https"),
        ({"endpoint": f"{ORIGIN}/{'x' * 2048}"}, 12, "`endpoint` has 2,074 characters, and 2,048 are allowed"),
        ({"parameters": {"type": "string"}}, 13, "`parameters` must be a schema of an object"),
        ({"parameters": {"type": "object", "properties": 3}}, 13, "`parameters` can't be used."),
        ({"parameters": {"type": "object", "required": ["x"]}}, 13, "requires 'x', which is none of its properties"),
        ({"readOnly": False}, 29, "`readOnly` must be true, since a tool of kind http only looks things up"),
        ({"requiresDownloadPermission": True}, 29, "`requiresDownloadPermission` must be false"),
        ({"method": "DELETE"}, 29, '`method` must be GET or POST, not "DELETE"'),
        ({"credentials": "include"}, 29, '`credentials` must be omit, not "include"'),
        ({"resultPolicy": "maybe"}, 29, "`resultPolicy` must be trusted or untrusted"),
        ({"modes": []}, 29, "`modes` must be a list of some of ask, act, dev"),
        ({"modes": "ask"}, 29, '`modes` must be a list, not "ask"'),
        ({"tiers": ["big"]}, 29, "`tiers` must be a list of some of compact, mid, full"),
        ({"defaultArgs": {"days": "many"}}, 29, "`defaultArgs`: /days must be an integer"),
        ({"endpoint": "https://10.0.0.7/v1"}, 12, "`endpoint` has the host 10.0.0.7, which is in a private network"),
        ({"endpoint": "https://[::1]/v1"}, 12, "which is this machine itself (a service on this machine must be in"),
        ({"activeTabUrlArg": "url"}, 29, '`activeTabUrlArg` is "url", which is none of the properties'),
        ({"inputUrlArg": "url"}, 29, '`inputUrlArg` is "url", which is none of the properties'),
        ({"inputUrlAllowlist": []}, 29, "`inputUrlAllowlist` is empty"),
        ({"inputUrlAllowlist": ["a.example"] * 21}, 29, "`inputUrlAllowlist` has 21 entries, and 20 are allowed"),
        ({"inputUrlAllowlist": ["https://a.example"]}, 30, "has https://a.example for a host"),
        ({"inputUrlAllowlist": [{"host": "a.example", "paths": ["/x"] * 21}]}, 30, "has 21 paths, and 20 are allowed"),
        ({"inputUrlAllowlist": [{"host": "a.example", "paths": []}]}, 30, "with at least one path"),
        ({"inputUrlAllowlist": [{"host": "a.example", "paths": ["x"]}]}, 30, "has x for a path"),
        ({"inputUrlAllowlist": [7]}, 30, "an entry of `inputUrlAllowlist` must be"),
        ({"responseLimits": {"maxTextChars": 0}}, 30, "`maxTextChars` must be a whole number above 0"),
        ({"responseLimits": {"maxArrayItems": {"a": -1}}}, 30, "must have a whole number above 0 for 'a'"),
        ({"job": {}}, 29, "`job` is for tools of kind httpDownloadJob"),
        ({"statusEndpoint": "https://x.example/{job_id}"}, 29, "`statusEndpoint` is for tools of kind httpDownloadJob"),
    ],
    ids=lambda part: next(iter(part)) if isinstance(part, dict) else None,
)
def test_a_rule_that_a_tool_breaks_is_told_with_the_line(change: dict[str, Any], line: int, sentence: str):
    found = error({**LOOK_UP, **change})

    assert found.startswith(f"{line} error T")
    assert sentence in found


@pytest.mark.threat("S8")
@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"readOnly": True}, "`readOnly` must be false, since a tool of kind httpDownloadJob makes a file"),
        ({"requiresDownloadPermission": False}, "`requiresDownloadPermission` must be true"),
        ({"method": "GET"}, "`method` must be POST"),
        ({"modes": ["ask", "act"]}, "`modes` has ask, in which nothing is kept"),
        ({"job": {}}, "`statusEndpoint` is missing: an address with {job_id} in it"),
        ({"job": without(ORDER["job"], "cleanupEndpoint")}, "`job`: `cleanupEndpoint` is missing"),
        ({"job": {**ORDER["job"], "fileEndpoint": f"{ORIGIN}/file"}}, "`fileEndpoint` is missing {job_id}"),
        ({"job": {**ORDER["job"], "statusEndpoint": "https://other.example/{job_id}"}}, f"must stay on {ORIGIN}"),
        ({"job": {**ORDER["job"], "statusEndpoint": f"{ORIGIN}:8443/{{job_id}}"}}, f"must stay on {ORIGIN}"),
        ({"job": {**ORDER["job"], "statusEndpoint": "https://{job_id}.example/"}}, "has {job_id} in its host"),
        ({"job": {**ORDER["job"], "statusEndpoint": f"http{ORIGIN[5:]}/{{job_id}}"}}, "is not https"),
        ({"job": {**ORDER["job"], "fileEndpoint": f"{ORIGIN}/{{job_id}}/{{name}}"}}, "has '{' in it"),
        ({"job": {**ORDER["job"], "pollIntervalMs": 10}}, "`pollIntervalMs` must be from 250 to 5,000, not 10"),
        ({"job": {**ORDER["job"], "timeoutMs": 200000}}, "`timeoutMs` must be from 5,000 to 180,000"),
        ({"timeoutMs": 9000}, "`timeoutMs` stands beside `job`"),
    ],
    ids=str,
)
def test_a_rule_that_a_job_breaks_is_told(change: dict[str, Any], sentence: str):
    found = errors(write({**ORDER, **change}))

    assert any(sentence in line for line in found)


def test_what_a_tool_must_have_is_asked_for_all_at_once():
    assert errors(write({})) == [
        "8 error This tool: `description` is missing: say what it does, and when to use it.",
        "8 error This tool: `endpoint` is missing: the address that is asked, with https://.",
        "8 error This tool: `name` is missing: give it one, such as tide_now.",
    ]


def test_an_argument_is_not_given_twice_by_the_endpoint():
    found = error({**LOOK_UP, "endpoint": f"{ORIGIN}/v1?place=Brest"})

    assert "`endpoint` has 'place' in its query, and so have its arguments" in found


def test_the_property_that_names_the_page_is_free():
    properties = {"url": {"type": "string"}, "page": {"type": "integer"}}

    found = error({**LOOK_UP, "parameters": {"type": "object", "properties": properties}, "activeTabUrlArg": "url"})

    assert "`page` names the page whose address is sent" in found
    properties = {"url": properties["url"]}
    tool = {**LOOK_UP, "parameters": {"type": "object", "properties": properties}, "activeTabUrlArg": "url"}
    assert "`page` names the page whose address is sent" in error({**tool, "defaultArgs": {"page": "p1"}})


@pytest.mark.parametrize(
    ("content", "line", "sentence"),
    [
        ('{"tools": [}', 3, "The fence `wb-tools` is not JSON: "),
        ('{"tools": [\n{"name": 1,}]}', 4, "The fence `wb-tools` is not JSON: "),
        ("[NaN]", 3, "can't be read: NaN is not a JSON value"),
        ("[1e999]", 3, "can't be read: "),
        (f"[{'9' * 5000}]", 3, "a number has 5,000 digits"),
        ("[" * 5000 + "]" * 5000, 3, "it is nested too deeply"),
        ("[" * 100 + "]" * 100, 3, "it is nested too deeply"),
        (r'["\ud800"]', 3, "it has half a character in it"),
        ("7", 3, 'must hold {"tools": [...]}, or a list of tools'),
        ('{"tools": {}}', 3, 'must hold {"tools": [...]}, or a list of tools'),
        ("[7]", 3, "A tool must be an object, not 7"),
        ("", 3, "is not JSON: Expecting value"),
    ],
    ids=lambda part: part[:20] if isinstance(part, str) else None,
)
def test_a_fence_that_is_no_list_of_tools_is_an_error(content: str, line: int, sentence: str):
    (found,) = errors(f"Text.\n```wb-tools\n{content}\n```\n")

    assert found.startswith(f"{line} error ")
    assert sentence in found


def test_a_fence_or_a_front_matter_without_an_end_is_an_error():
    assert "has no end: close it with a line `~~~`" in errors(f"~~~wb-tools\n{json.dumps([LOOK_UP])}\n```")[0]
    assert "1 error The front matter that begins here has no end" in errors(f"---\nname: x\n{write(LOOK_UP)}")[0]


@pytest.mark.feature("skills.faults")
def test_what_has_no_effect_and_what_others_call_otherwise_is_a_warning():
    tool = {**without(LOOK_UP, "parameters"), "input_schema": LOOK_UP["parameters"], "headers": {}, "kind": "HTTP"}

    reading = read(write(tool))

    assert reading.skill is not None
    assert told(reading) == [
        "11 warning Tool 'tide_now': `kind` is read as http: write that.",
        "13 warning Tool 'tide_now': `input_schema` is read as `parameters`: write that.",
        "29 warning Tool 'tide_now': `headers` is not known, and has no effect: remove it.",
    ]


def test_an_address_of_any_host_is_a_warning():
    parameters = {"type": "object", "properties": {"url": {"type": "string", "description": "Of the chart."}}}

    reading = read(write({**LOOK_UP, "parameters": parameters, "inputUrlArg": "url"}))

    assert "any address may be given to it: name the hosts in `inputUrlAllowlist`" in told(reading)[0]


def test_a_parameter_without_a_description_is_a_warning():
    tool = {**LOOK_UP, "parameters": {"type": "object", "properties": {"place": {"type": "string"}}}}

    assert told(read(write(tool))) == [
        "13 warning Tool 'tide_now': `parameters` does not say what 'place' is: give it a `description`."
    ]


def test_the_same_member_twice_is_an_error():
    text = write(LOOK_UP).replace('"kind": "http",', '"kind": "http",\n"kind": "http",\n"type": "http",')

    assert [line.split(": ", 1)[1] for line in errors(text)] == [
        "`kind` gives `kind` a second time: remove one.",
        "`type` gives `kind` a second time: remove one.",
    ]


@pytest.mark.threat("S10")
def test_a_name_that_is_twice_within_what_is_taken_as_it_is_is_an_error():
    text = write(LOOK_UP).replace('"days": {', '"place": {')

    assert [line.split(": ", 1)[1] for line in errors(text)] == [
        "`parameters` has 'place' twice in one object: remove one.",
    ]


def test_two_tools_of_one_name_in_a_skill_are_both_named():
    (found,) = errors(write(LOOK_UP, {**LOOK_UP, "description": "Another."}))

    assert found == "30 error There are two tools 'tide_now', here and in line 8: rename one."


def test_the_limits_of_a_file_hold_at_their_number_and_not_beyond():
    many = [{**LOOK_UP, "name": f"tide_{number}"} for number in range(limits.SKILL_TOOLS + 1)]
    words = {"summary": "s" * 201, "intents": [f"i{number}" for number in range(7)]}

    assert len(skill(write(*many[:-1])).tools) == 8
    assert "The skill has 9 tools, and 8 are allowed" in errors(write(*many))[0]
    assert len(skill("x" * 20_000).text) == 20_000
    assert "The skill has 20,001 characters of text, and 20,000 are allowed" in errors("x" * 20_001)[0]
    assert read_skill(b" " * 500_000, name="a", source="a.md").skill is not None
    assert "more than 500,000 bytes" in told(read_skill(b" " * 500_001, name="a", source="a.md"))[0]
    assert [line.split(": ", 1)[-1][:40] for line in errors(f"```webbrain-skill\n{json.dumps(words)}\n```")] == [
        "`intents` has 7 entries, and 6 are allow",
        "2 error The summary has 201 characters, ",
    ]
    assert "words of up to 40 of a-z" in errors('```webbrain-skill\n{"intents": ["%s"]}\n```' % ("i" * 41))[0]


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"a\n\xff", "2 error The file is not UTF-8"),
        (b"a\nb\x1b[2J", "2 error There is a control character, U+001B"),
        (b"a\x00", "1 error There is a control character, U+0000"),
        ("a\nb\u202ec".encode(), "2 warning There is a character that nobody sees, U+202E"),
        ("a\U000e0041".encode(), "1 warning There is a character that nobody sees, U+E0041"),
    ],
    ids=["bytes", "escape", "NUL", "direction", "tag"],
)
@pytest.mark.threat("S9")
def test_what_nobody_sees_in_a_file_is_told(data: bytes, problem: str):
    assert told(read_skill(data, name="a", source="a.md"))[0].startswith(problem)


@given(st.text())
def test_any_text_is_read(text: str):
    read(text)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=5), st.data())
def test_a_member_of_any_value_is_an_error_or_none(value: object, data: st.DataObject):
    name = data.draw(st.sampled_from(sorted(ORDER.keys() | {"modes", "tiers", "responseLimits", "inputUrlAllowlist"})))

    read(write({**ORDER, name: value}))


@pytest.mark.threat("S9")
@pytest.mark.parametrize(
    "text",
    [
        "# a" + " " * 490_000 + "b",
        "# a" + " #" * 240_000,
        "---\na: b" + " " * 490_000 + "c\n---\n",
        "".join("`" * length + "a" for length in range(1, 980)),
        "<!--" * 120_000,
        "```\n" * 120_000,
        "```wb-tools\n[" + "0," * 240_000 + "0]\n```",
        "```wb-tools\n[{" + ",".join(f'"a{number}":0' for number in range(40_000)) + "}]\n```",
    ],
    ids=["heading", "heading's end", "front matter", "backticks", "comments", "fences", "items", "members"],
)
def test_a_file_of_the_full_size_is_read_in_no_time_whatever_is_in_it(text: str):
    start = process_time()

    read(text)

    # Where time grew with the square of the size, each took minutes.
    assert process_time() - start < 5


def test_of_very_many_faults_some_are_told_and_errors_come_first():
    members = "".join(f'"a{number}": 0,\n' for number in range(1000))

    reading = read(f'```wb-tools\n[{{{members}"name": 7}}]\n```')

    assert len(reading.problems) == limits.SKILL_PROBLEMS + 1
    assert "1002 error This tool: `name` must be a string, not 7." in told(reading)
    assert any(problem.sentence == "There are 903 more faults." for problem in reading.problems)


def test_defaults_that_can_not_be_checked_are_an_error():
    days = {"type": "array", "items": {"type": "number"}, "description": "From today."}
    parameters = {"type": "object", "properties": {"days": days}}
    tool = {**LOOK_UP, "parameters": parameters, "defaultArgs": {"days": [0] * limits.SCHEMA_STEPS}}

    found, _ = errors(f"```wb-tools\n{json.dumps([tool], separators=(',', ':'))}\n```")

    assert "`defaultArgs` can't be checked. The input schema can't be used" in found


# Whether it may be used


@pytest.mark.threat("S10")
def test_skills_that_want_the_same_names_are_both_named_and_the_first_stays():
    tides = skill(write(LOOK_UP))
    same_tool = skill(write(LOOK_UP), name="sea")
    same_name = read_skill(write(ORDER).encode(), name="tides", source="more/tides.md").skill
    assert same_name is not None
    built_in = skill(write({**LOOK_UP, "name": "list_pages"}), name="pages")

    bad = check_skills([tides, same_tool, same_name, built_in], {"list_pages": "a built-in tool"})

    assert [reason for _, reason in bad] == [
        "The tool 'tide_now' of skills/sea.md has the name of a tool of skills/tides.md: rename it in the skill.",
        "skills/tides.md and more/tides.md are both named 'tides': rename one.",
        "The tool 'list_pages' of skills/pages.md has the name of a built-in tool: rename it in the skill.",
    ]


def test_so_many_skills_and_characters_can_be_together():
    small = [skill("x", name=f"s{number}") for number in range(limits.SKILLS + 1)]
    large = [skill("x" * 20_000, name=f"l{number}") for number in range(3)]

    assert [one.source for one, _ in check_skills(small, {})] == ["skills/s20.md"]
    assert "have 60,000 characters, and 50,000 are allowed" in check_skills(large, {})[0][1]


# How it is offered


@pytest.mark.feature("skills.modes")
@pytest.mark.threat("S11")
@pytest.mark.parametrize(
    ("policy", "manifest_trusts", "is_framed"),
    [
        ("trusted", False, True),
        ("untrusted", True, True),
        (None, True, True),
        (None, False, True),
        ("trusted", True, False),
    ],
)
def test_results_are_in_a_frame_unless_the_skill_and_the_manifest_both_say_otherwise(
    policy: str | None, manifest_trusts: bool, is_framed: bool
):
    tool = tool_of({**LOOK_UP, **({"resultPolicy": policy} if policy else {})})

    offered = offer_skill_tool(tool, Reach(servers=Network()), trusted=manifest_trusts)

    assert offered.page_derived is is_framed


def test_a_tool_is_offered_as_what_it_is():
    offered = offer_skill_tool(tool_of(ORDER), Reach(servers=Network()))

    assert {
        name: getattr(offered, name) for name in ("name", "title", "kind", "source", "mode", "tier", "read_only")
    } == {
        "name": "tide_chart",
        "title": "Tide chart",
        "kind": "skill",
        "source": "skills/tides.md",
        "mode": "act",
        "tier": "compact",
        "read_only": False,
    }
