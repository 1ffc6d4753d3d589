"""What an agent sees, which secrets its calls get, and how that is listed."""

from pathlib import Path

import pytest

from bridge.errors import UsageError
from bridge.manifest.grants import granted
from bridge.manifest.listing import list_tools
from bridge.manifest.visibility import check_agents, choose_agents, taken_names, visible, why_missing
from tests.manifests import BUILT_INS, read

NAMES = frozenset({"list_pages", "call_page_tool", "click", "fill", "fill_form", "evaluate_script", "weather"})


@pytest.mark.feature("manifest.agents")
@pytest.mark.parametrize(
    ("tools", "seen"),
    [
        ("", NAMES),
        ('tools = "all"', NAMES),
        ('tools = ["*"]', NAMES),
        ('tools = ["click", "*"]', NAMES),
        ('tools = "none"', set()),
        ("tools = []", set()),
        ('tools = ["click", "weather"]', {"click", "weather"}),
        ('tools = ["weather", "another"]', {"weather"}),
        ('tools = ["evaluate_script"]', {"evaluate_script"}),
        ("tools = {}", NAMES),
        ("tools = {exclude = []}", NAMES),
        ('tools = {exclude = ["click", "weather"]}', NAMES - {"click", "weather"}),
        ("tools = {click = false}", NAMES - {"click"}),
        ('tools = {click = false, exclude = ["weather"]}', NAMES - {"click", "weather"}),
        ("tools = {exclude = false}", NAMES),
        ("tools = {evaluate_script = false}", NAMES - {"evaluate_script"}),
    ],
)
def test_an_agent_sees_what_its_rule_says(tmp_path: Path, tools: str, seen: set[str]):
    manifest = read(tmp_path, f"[agents.a]\n{tools}")
    assert visible(NAMES, choose_agents(manifest, ["a"])) == seen


@pytest.mark.feature("manifest.agents")
def test_what_does_the_same_as_a_hidden_tool_is_hidden_with_it(tmp_path: Path):
    manifest = read(tmp_path, '[agents.a]\ntools = {exclude = ["call_page_tool", "fill"]}')
    assert visible(NAMES, choose_agents(manifest, ["a"])) == {"list_pages", "click", "weather"}


def test_without_a_name_an_agent_sees_all_that_is_there(tmp_path: Path):
    assert visible(NAMES, choose_agents(read(tmp_path, '[agents.a]\ntools = "none"'), [])) == NAMES


def test_a_list_adds_no_tool_that_is_not_there(tmp_path: Path):
    manifest = read(tmp_path, '[agents.a]\ntools = ["click", "nothing"]')
    assert visible({"weather"}, choose_agents(manifest, ["a"])) == set()


@pytest.mark.feature("manifest.agents")
def test_an_agent_that_works_for_another_sees_what_both_see(tmp_path: Path):
    manifest = read(
        tmp_path, '[agents.a]\ntools = ["click", "weather"]\n[agents.b]\ntools = {exclude = ["click"]}\n[agents.c]'
    )
    assert visible(NAMES, choose_agents(manifest, ["a", "b", "c"])) == {"weather"}


@pytest.mark.feature("manifest.agents")
@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("", "There are none."),
        ("[agents.zed]\n[agents.other]", "There are these: zed, other."),
        ("[agents.reviewer]", "Did you mean reviewer?"),
    ],
)
def test_an_agent_that_is_not_declared_is_refused_and_does_not_see_everything(tmp_path: Path, text: str, advice: str):
    with pytest.raises(UsageError) as caught:
        choose_agents(read(tmp_path, text), ["reviwer"])
    assert str(caught.value) == f"pagebridge.toml has no [agents.reviwer]. {advice}"


@pytest.mark.feature("manifest.listing")
@pytest.mark.parametrize(
    ("text", "name", "agents", "why"),
    [
        ("[agents.a]\ntools = 'none'", "click", ["a"], "Agent a may not use click. Only the person who writes "
         "[agents.a] in pagebridge.toml can change that."),
        ("[agents.a]\ntools = {fill = false}", "fill_form", ["a"], "Agent a may not use fill_form. Only the person who "
         "writes [agents.a] in pagebridge.toml can change that."),
        ("[tools]", "click", [], "pagebridge.toml does not list click under [tools]: the line "
         '`click = "builtin:click"` ' "there brings it back."),
        ("", "fill", [], "fill is not in this profile: start with --tools fill, or with --tools debug for all."),
        ("", "press", [], "press was a built-in tool of an earlier version. List the tools again."),
        ("[tools]\nx = 1", "x", [], 'Tool x did not load: x must be the path of a .py file in the project, such as '
         '"tools/x.py".'),
        ("", "a\nb", [], "Unknown tool: 'a\\nb'. List the tools again."),
    ],
)  # fmt: skip
def test_who_asks_for_a_tool_that_is_missing_is_told_how_it_comes_back(
    tmp_path: Path, text: str, name: str, agents: list[str], why: str
):
    manifest = read(tmp_path, text)
    assert why_missing(name, manifest, BUILT_INS, choose_agents(manifest, agents)) == why


AGENTS = '[tools]\nclick = "builtin:click"\nweather = "tools/weather.py"\nbroken = 1\n[agents.a]\ntools = '


@pytest.mark.feature("manifest.agents")
@pytest.mark.parametrize(
    ("tools", "found"),
    [
        ('["click", "weather", "tide", "broken"]', []),
        ('{exclude = ["click", "weather", "tide", "broken", "fill"]}', []),
        (
            '["fill"]',
            [
                "warning: fill is a built-in tool that this project does not load: add "
                '`fill = "builtin:fill"` under [tools], or remove it here.'
            ],
        ),
        ('["wether"]', ["warning: wether is no tool of this project, so it gives nothing. Did you mean weather?"]),
        (
            '{exclude = ["wether"]}',
            ["error: wether is no tool of this project, so it hides nothing. Did you mean weather?"],
        ),
        (
            "{zzzzz = false}",
            ["error: zzzzz is no tool of this project, so it hides nothing. Correct the name, or remove it."],
        ),
    ],
)
def test_a_name_that_means_nothing_is_told(tmp_path: Path, tools: str, found: list[str]):
    manifest = read(tmp_path, AGENTS + tools)
    issues = list(check_agents(manifest, BUILT_INS, ["tide"]))

    assert [str(issue) for issue in issues] == [f"pagebridge.toml:6: {issue}" for issue in found]
    lenient = check_agents(manifest, BUILT_INS, ["tide"], all_known=False)
    told = [
        "warning: zzzzz is no tool that is known here, so it hides nothing, unless a module or a skill that does not "
        "load, or a function `tools`, has it."
        if "zzzzz" in issue
        else issue
        for issue in found
    ]
    assert [str(issue) for issue in lenient] == [f"pagebridge.toml:6: {issue}" for issue in told]


def test_a_name_has_the_line_that_it_stands_on(tmp_path: Path):
    manifest = read(tmp_path, AGENTS + '{exclude = [\n  "click",\n  "clik",\n]}')
    assert [issue.line for issue in check_agents(manifest, BUILT_INS)] == [8]


def test_what_is_hidden_along_is_told(tmp_path: Path):
    text = '[tools]\nfill = "builtin:fill"\nfill_form = "builtin:fill_form"\n[agents.a]\ntools = {fill = false%s}'
    told = "pagebridge.toml:5: warning: fill_form is hidden as well, since it can do what fill does: name it here, too."
    assert list(map(str, check_agents(read(tmp_path, text % ""), BUILT_INS))) == [told]
    assert list(check_agents(read(tmp_path, text % ", fill_form = false"), BUILT_INS)) == []


def test_without_a_key_no_name_of_a_built_in_tool_is_wrong(tmp_path: Path):
    assert list(check_agents(read(tmp_path, '[agents.a]\ntools = ["fill"]'), BUILT_INS)) == []


def test_a_tool_that_no_manifest_lists_can_be_hidden_and_shown(tmp_path: Path):
    manifest = read(tmp_path, '[agents.a]\ntools = {exclude = ["settle"]}\n[agents.b]\ntools = ["settle"]')
    assert list(check_agents(manifest, BUILT_INS)) == []
    assert visible({"settle", "click"}, [manifest.agents["a"]]) == {"click"}


@pytest.mark.threat("S10")
def test_no_further_tool_gets_a_name_that_is_taken(tmp_path: Path):
    manifest = read(tmp_path, '[tools]\nclick = "tools/click.py"\nweather = "tools/weather.py"')
    taken = taken_names(manifest, BUILT_INS)

    assert set(taken) == BUILT_INS.names | BUILT_INS.retired | BUILT_INS.reserved | {"weather"}
    assert taken["settle"] == "a built-in tool"
    assert taken["fill"] == "a built-in tool"  # though this project has removed it
    assert taken["press"] == "a built-in tool of an earlier version"
    assert taken["click"] == "a tool of the project (tools/click.py)"


ENVIRON = {"LANG": "fr", "HOME": "/root", "KEY": "of the environment", "LD_PRELOAD": "x"}
SECRETS = {"KEY": "of the file", "OTHER": "2"}


@pytest.mark.feature("manifest.secrets")
@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("", {}),
        ('env = ["LANG", "NONE"]', {"LANG": "fr"}),
        ('secrets = "none"', {}),
        ('secrets = "all"', SECRETS),
        ('secrets = ["KEY", "NONE"]', {"KEY": "of the file"}),
        ('secrets = ["KEY"]\nenv = ["KEY", "LANG"]', {"KEY": "of the file", "LANG": "fr"}),
        ('env = ["KEY"]', {"KEY": "of the environment"}),
        ('secrets = "all"\n[agents.a]\nsecrets = "none"', {}),
        ('secrets = "all"\n[agents.a]\nsecrets = ["OTHER"]', {"OTHER": "2"}),
        ('secrets = ["KEY"]\n[agents.a]\nsecrets = ["OTHER", "KEY"]', {"KEY": "of the file"}),
        ('secrets = ["KEY"]\n[agents.a]\nsecrets = "all"', {"KEY": "of the file"}),
        ('[agents.a]\nsecrets = "all"', {}),
        ('secrets = "all"\n[agents.a]', SECRETS),
    ],
)
def test_tools_get_what_was_granted_and_nothing_else(tmp_path: Path, text: str, given: dict[str, str]):
    manifest = read(tmp_path, text)
    assert granted(manifest, tuple(manifest.agents.values()), environ=ENVIRON, secrets=SECRETS) == given


TABLE = """\
import = ["more.toml"]
[tools]
list_pages = "builtin:list_pages"
click = "tools/click.py"
weather = "tools/weather.py"
broken = "../x.py"
"""


@pytest.mark.feature("manifest.override", "manifest.listing")
def test_tools_are_listed_with_what_was_removed_and_what_failed(tmp_path: Path):
    table = list_tools(
        read(tmp_path, TABLE, {"more.toml": '[tools]\nfill = "builtin:fill"\ngone = "tools/gone.py"'}),
        BUILT_INS,
        modules=[("given", "/home/me/given.py")],
        skills=[("tide_now", "skills/tides.md")],
        failed={"gone": "tools/gone.py does not exist."},
    )

    assert table.as_text() == (
        "NAME        KIND                  SOURCE\n"
        "list_pages  builtin               builtin:list_pages\n"
        "fill        builtin               builtin:fill\n"
        "settle      builtin               builtin:settle\n"
        "click       builtin (overridden)  tools/click.py\n"
        "weather     project               tools/weather.py\n"
        "given       project               /home/me/given.py\n"
        "tide_now    skill                 skills/tides.md\n"
        "\n"
        "Removed built-in tools: call_page_tool\n"
        'Add `call_page_tool = "builtin:call_page_tool"` under [tools] to get one back.\n'
        "\n"
        "Did not load:\n"
        '  broken: broken must be the path of a .py file in the project, such as "tools/broken.py". ../x.py is '
        "none: it leads out of the folder that it is in.\n"
        "  gone: tools/gone.py does not exist."
    )
    told = table.as_json()
    assert list(told) == ["manifest", "tools_key", "tools", "removed", "failed"]
    assert (told["manifest"], told["tools_key"], told["removed"]) == ("pagebridge.toml", True, ["call_page_tool"])
    assert told["tools"][3] == {"name": "click", "kind": "builtin (overridden)", "source": "tools/click.py"}
    assert [entry["name"] for entry in told["failed"]] == ["broken", "gone"]
    assert told["failed"][1] == {"name": "gone", "error": "tools/gone.py does not exist."}


@pytest.mark.feature("manifest.tools")
def test_without_a_key_the_profile_is_listed(tmp_path: Path):
    table = list_tools(read(tmp_path, ""), BUILT_INS)

    assert [row.name for row in table.rows] == list(BUILT_INS.profile)
    assert table.as_text().endswith(
        "\n\npagebridge.toml has no [tools], so sessions get every built-in tool of their profile."
    )
    assert (table.as_json()["tools_key"], table.as_json()["removed"]) == (False, [])


@pytest.mark.feature("manifest.tools")
def test_an_empty_key_removes_every_built_in_tool(tmp_path: Path):
    table = list_tools(read(tmp_path, "[tools]"), BUILT_INS)
    assert (table.rows, table.removed) == ((), BUILT_INS.profile)


@pytest.mark.feature("manifest.override")
def test_an_override_that_failed_is_not_the_built_in_tool_again(tmp_path: Path):
    table = list_tools(read(tmp_path, "[tools]\nclick = 1"), BUILT_INS)
    assert ([row.name for row in table.rows], list(table.failed)) == ([], ["click"])
    assert "click" not in table.removed
