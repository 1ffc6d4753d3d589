"""Titles of tools, in each language there is, and which one that is."""

import json
from importlib.resources import files
from typing import Final

import pytest

from bridge.calls.built_ins import BUILT_INS
from bridge.serve.titles import LANGUAGES, language, titles
from bridge.settings import Language
from bridge.tools.sources.browser import BROWSER_TOOLS
from scripts.tools_reference import RESOLVER

TOOLS: Final = {tool.name: tool.title for tool in (*BUILT_INS, *BROWSER_TOOLS, RESOLVER)}


@pytest.mark.feature("mcp.titles")
@pytest.mark.parametrize("language", LANGUAGES)
def test_each_tool_has_a_title_in_each_language_and_nothing_else_has(language: Language):
    assert sorted(titles(language)) == sorted(TOOLS)
    for title in titles(language).values():
        assert title == title.strip()
        assert title[0].isupper()
        assert title.isprintable()


def test_english_titles_are_those_of_the_tools():
    assert titles("en") == TOOLS


def test_french_titles_are_not_english():
    assert not titles("fr").items() & titles("en").items()


def test_no_title_is_told_for_two_tools():
    assert [len(set(titles(language).values())) for language in LANGUAGES] == [len(TOOLS)] * len(LANGUAGES)


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_tool_is_written_twice_in_a_catalogue(language: Language):
    pairs = json.loads(
        files("bridge.serve.titles").joinpath(f"{language}.json").read_text("utf-8"), object_pairs_hook=list
    )

    assert len(pairs) == len(titles(language))


@pytest.mark.feature("mcp.titles")
@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, "en"),
        ({"LANG": "fr"}, "fr"),
        ({"LANG": "fr_CA.UTF-8"}, "fr"),
        ({"LANG": "fr_FR@euro"}, "fr"),
        ({"LANG": "fr@euro"}, "fr"),
        ({"LANG": "fr.utf8"}, "fr"),
        ({"LANG": "fr-BE"}, "fr"),
        ({"LANG": "FR_fr"}, "fr"),
        ({"LANG": "en_GB.UTF-8"}, "en"),
        ({"LANG": "C"}, "en"),
        ({"LANG": "C.UTF-8"}, "en"),
        ({"LANG": "POSIX"}, "en"),
        ({"LANG": "frr_DE"}, "en"),
        ({"LANG": "de_CH"}, "en"),
        ({"LANG": "_fr"}, "en"),
        ({"LANG": "/../fr"}, "en"),
        ({"LC_ALL": "fr_FR", "LC_MESSAGES": "en_US", "LANG": "en_US"}, "fr"),
        ({"LC_ALL": "C", "LC_MESSAGES": "fr_FR", "LANG": "fr_FR"}, "en"),
        ({"LC_MESSAGES": "fr_FR", "LANG": "en_US"}, "fr"),
        ({"LC_MESSAGES": "de_DE", "LANG": "fr_FR"}, "en"),
        ({"LC_ALL": "", "LC_MESSAGES": "", "LANG": "fr_FR"}, "fr"),
        ({"LC_CTYPE": "fr_FR", "LANGUAGE": "fr"}, "en"),
    ],
)
def test_the_language_is_that_of_the_first_variable_that_is_set(environ: dict[str, str], expected: str):
    assert language(environ) == expected
