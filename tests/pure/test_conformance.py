"""The official JSON-Schema-Test-Suite, out of jsonschema's source distribution: every required case, both dialects."""

import json
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bridge.errors import SchemaUnusable
from bridge.tools.keywords import quiet
from bridge.tools.schema import check_schema

SUITE = Path(__file__).parents[2] / "build/schema-suite"
DIALECTS = {
    "draft7": "http://json-schema.org/draft-07/schema#",
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
}

FETCHED = "schemas are never fetched"
"""Its reference leads to http://localhost:1234, where the suite wants a server."""
UNKNOWN = "unknown dialect"
"""Its meta-schema is there, too."""
REMOTE = [
    "Location-independent identifier in remote ref",
    "base URI change",
    "base URI change - change folder",
    "base URI change - change folder in subschema",
    "fragment within remote ref",
    "ref within remote ref",
    "remote ref",
    "retrieved nested refs resolve relative to their URI not $id",
    "root ref in remote ref",
]
EXCEPTIONS = {
    "draft7": {
        **{("refRemote", group): FETCHED for group in REMOTE},
        ("refRemote", "$ref to $ref finds location-independent $id"): FETCHED,
        ("refRemote", "remote ref with ref to definitions"): FETCHED,
    },
    "draft2020-12": {
        **{("refRemote", group): FETCHED for group in REMOTE},
        ("refRemote", "$ref to $ref finds detached $anchor"): FETCHED,
        ("refRemote", "anchor within remote ref"): FETCHED,
        ("refRemote", "remote HTTP ref with different $id"): FETCHED,
        ("refRemote", "remote HTTP ref with different URN $id"): FETCHED,
        ("refRemote", "remote HTTP ref with nested absolute ref"): FETCHED,
        ("refRemote", "remote ref with ref to defs"): FETCHED,
        ("dynamicRef", "$ref and $dynamicAnchor are independent of order - $defs first"): FETCHED,
        ("dynamicRef", "$ref and $dynamicAnchor are independent of order - $ref first"): FETCHED,
        ("dynamicRef", "$ref to $dynamicRef finds detached $dynamicAnchor"): FETCHED,
        ("dynamicRef", "strict-tree schema, guards against misspelled properties"): FETCHED,
        ("dynamicRef", "tests for implementation dynamic anchor and reference link"): FETCHED,
        ("vocabulary", "ignore unrecognized optional vocabulary"): UNKNOWN,
        ("vocabulary", "schema that uses custom metaschema with with no validation vocabulary"): UNKNOWN,
    },
}
"""Groups, with what our refusal says. All the others must be right."""


def read_suite(dialect: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Names of files, each with one group of cases: what is directly in the dialect's folder is required."""
    found = list(SUITE.glob("jsonschema-*.tar.gz"))
    assert found, f"The JSON-Schema-Test-Suite is not in {SUITE}: run `make schema-suite` where PyPI can be reached."
    with tarfile.open(found[0]) as archive:
        for member in archive.getmembers():
            path = Path(member.name)
            if path.parts[1:-1] == ("json", "tests", dialect) and path.suffix == ".json":
                content = archive.extractfile(member)
                assert content is not None
                yield from ((path.stem, group) for group in json.load(content))


def verdicts(schema: Any, dialect: str, value: Any) -> set[bool | str]:
    """Whether the value fits, as each way of ours sees it, or why the schema can't be used."""
    # The schema of a tool is an object.
    document = {"allOf": [schema]} if isinstance(schema, bool) else schema
    try:
        checked = check_schema(json.dumps({"$schema": DIALECTS[dialect], **document}))
    except SchemaUnusable as error:
        return {str(error)}
    by_test = {checked.verdict.fits(value)} if checked.verdict.fits else set[bool]()
    by_library = checked.validator.is_valid(quiet(value))
    return {not checked.check(value), by_library, *by_test}


@pytest.mark.feature("pages.dialects")
@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_required_case_of_the_official_suite_is_right(dialect: str):
    wrong: list[str] = []
    number = 0
    for name, group in read_suite(dialect):
        for case in group["tests"]:
            number += 1
            told = verdicts(group["schema"], dialect, case["data"])
            reason = EXCEPTIONS[dialect].get((name, group["description"]))
            if told != {case["valid"]} if reason is None else reason not in str(told):
                wrong.append(f"{name} | {group['description']} | {case['description']} | {told}")
    assert not wrong, "\n".join(wrong)
    assert number > 800
