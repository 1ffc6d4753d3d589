"""Patterns of schemas: what google-re2 makes of them is what the RegExp of a page's own browser makes of them."""

import json
import random
from collections.abc import Sequence

import pytest

from bridge.calls.agent import Agent
from bridge.tools.keywords import Pattern
from tests.browser.asking import call, list_tools, open_page, read
from tests.sites import Site, offering, tool

MATCH = """({patterns, texts}) => patterns.map(pattern => {
  const compile = flags => { try { return new RegExp(pattern, flags) } catch { return null } };
  const regex = compile('u') ?? compile('');
  return regex && texts.map(text => Number(regex.test(text))).join('');
})"""

EXPRESSIBLE = [
    "", "a", "^a", "a$", "^a$", "^$", "a|b", "(a|b)+c", "(?:ab)*$", "(?<word>a+)b", "a{2}", "a{1,2}$", "^a{2,}$",
    "a*?b", "a??$", "^.$", "^...$", "^[ab]$", "^[^ab]$", "[]", "[^]", "^[^]$", "[a-c-]$", "[-a]", r"[a\-z]$", "[+--]",
    "[.]$", "[$^]", r"[\]]", r"[\^]", "[[]", "a]", "{", "a{", "a{,2}", "a{x}", "}", r"\{", r"\/", r"\-", r"\_", r"\@",
    r"\.", r"\\", r"\$", r"^\d+$", r"\D", r"^\w+$", r"^\W$", r"^\s$", r"^\S$", r"[\s]b", r"^[\S]$", r"^[^\s]$",
    r"^[\d\s]+$", r"^[^\d\S]$", r"[\w.-]+@[\w-]+\.\w+", r"[\w-.]", r"\bb", r"a\b", r"\Bb", r"[\b]", r"\t", r"\v",
    r"\f", r"[\n\r]", r"\0", r"\x41", r"\x4", r"\cA", r"\cj", r"[\cJ]", r"\u0061", r"\u00e9", r"\u{e9}", r"\u{1F600}",
    r"^\ud83d\ude00$", "^😀$", "^[😀😁]$", r"^[\u{1F600}-\u{1F64F}]$", "^😀+$", r"\u6", r"\a", r"\A", r"\Z\z", r"\e",
    r"\Q.\E", r"\p", r"\pL", r"^\p{L}+$", r"^\p{Letter}$", r"\p{Lu}", r"^\P{L}$", r"[\p{L}\d]$", r"[^\p{L}]",
    r"\p{gc=Lu}", r"\p{General_Category=Uppercase_Letter}", r"\p{Script=Greek}", r"\p{sc=Han}", r"\p{Nd}", r"\p{Sc}",
    "[[:alpha:]]", "[&&]", "[a||b]", "a#b", "a b", "é", "café$", "\n", "x{3}", "^(a?){3}$", "()", "(|a)", "(a|)+$",
    "()*", "^[a-zA-Z][a-zA-Z0-9_]*$", "^#[0-9a-fA-F]{6}$", r"^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2})?$",
    r"^(https?):\/\/[^\s\/$.?#].[^\s]*$", "^[^\x00-\x1f]*$", r"^[^\x00-\x1f]*$", r"^[ -~]+$", "K", "^[à-ÿ]$",
]  # fmt: skip
INEXPRESSIBLE = [
    "(?=a)", "(?!a)b", "(?<=a)b", "(?<!a)b", r"(a)\1", r"(?<n>a)\k<n>", r"\1", r"\01", r"[\1]", r"\c1", r"\p{Emoji}",
    r"\p{Alphabetic}", r"\p{C}", r"\p{Cn}", r"\p{scx=Grek}", r"\ud800", r"[\ud800-\udfff]", r"\u{61}\_", r"\p{L}\@",
    r"😀\-", r"[\w-😀]", "(?i:a)", "a{1001}", "(a{100}){100}",
]  # fmt: skip
REFUSED = ["(", ")", "*", "a**", "^*", "a{2,1}", "[b-a]", "[", "a{1}{2}", "\\", "(?P<n>a)", "(?<n>a)(?<n>b)", "(?#a)"]
"""JavaScript compiles these neither way."""

TEXTS = [
    "", "a", "b", "ab", "aab", "aaa", "abc", "ba", "aabc", "A", "c", "z", "x", "p", "u6", "x4", "pL", "uuuuuu", "AZz",
    "Q.E", "a{,2}", "a{", "a{x}", "{", "}", "a]", "]", "[", "^", "$", ".", "-", "+", "_", "@", "/", "\\", "|", "&", "#",
    "#a0B1c2", "a#b", "a b", " ", "\n", "a\n", "\na", "\r", "\t", "\v", "\f", "\b", "\x00", "\x01", "\x1f", "\x85",
    "\xa0", "\xa0b", "\ufeff", "\u2028", "\u2029", "\u2003", "\u180e", "\u200b", "\u3000", "0", "7", "42", "٣", "é",
    "café", "e\u0301", "É", "ß", "Σ", "ω", "s", "\u017f", "\u212a", "中", "一7", "€", "😀", "😁", "😀😀", "a😀", "a1_",
    "a.b@c-d.org", "2024-01-31", "2024-01-31T10:00", "https://a.test/b?c", "http://", "a:alpha:", ":", "word",
]  # fmt: skip


@pytest.fixture
async def page(agent: Agent, site: Site) -> str:
    return await open_page(agent, site.page("/patterns", offering(tool("match", MATCH))))


async def match(agent: Agent, page: str, patterns: Sequence[str], texts: Sequence[str]) -> list[str | None]:
    """For each pattern 0 or 1 for each text, or None where JavaScript refuses it."""
    answer = await call(agent, page, "match", {"patterns": list(patterns), "texts": list(texts)})
    assert not answer.is_error, answer.text
    return json.loads(answer.text)


def ours(pattern: str, texts: Sequence[str]) -> str | None:
    compiled = Pattern(pattern)
    return None if compiled.regex is None else "".join(str(int(compiled.may_match(text))) for text in texts)


@pytest.mark.feature("pages.dialects")
async def test_every_pattern_means_what_it_means_to_chromium_or_is_not_checked(agent: Agent, page: str):
    theirs = await match(agent, page, [*EXPRESSIBLE, *INEXPRESSIBLE, *REFUSED], TEXTS)

    found = dict(zip([*EXPRESSIBLE, *INEXPRESSIBLE, *REFUSED], theirs, strict=True))
    wrong = [
        (pattern, text, told)
        for pattern in EXPRESSIBLE
        for text, told, mine in zip(TEXTS, found[pattern] or "", ours(pattern, TEXTS) or "", strict=True)
        if told != mine
    ]
    assert wrong == []
    assert [pattern for pattern in EXPRESSIBLE if found[pattern] is None or ours(pattern, TEXTS) is None] == []
    assert [pattern for pattern in INEXPRESSIBLE if found[pattern] is None] == []
    assert [pattern for pattern in REFUSED if found[pattern] is not None] == []
    assert [pattern for pattern in [*INEXPRESSIBLE, *REFUSED] if ours(pattern, TEXTS) is not None] == []


SETS = [r"\s", r"\S", r"\w", r"\W", r"\d", r"\D", ".", "[^a]", r"[^\s]", r"[^\W]", r"[\s\S]", "[a-é]", r"\x{41}"]


async def test_classes_hold_exactly_the_characters_that_they_hold_in_chromium(agent: Agent, page: str):
    texts = [chr(point) for point in (*range(0x3100), *range(0xFE00, 0x10000), 0x10000, 0x1F600, 0x10FFFF)]

    for one in SETS:
        (theirs,) = await match(agent, page, [f"^{one}$"], texts)
        mine = ours(f"^{one}$", texts)
        assert theirs is not None
        assert mine is not None
        assert [text for text, *pair in zip(texts, theirs, mine, strict=True) if pair[0] != pair[1]] == [], one


PARTS = [
    *"ab-.^$|()[]{},*+?\\0nsdbB", "(?:", "[^", "a-c", r"\d", r"\s", r"\S", r"\w", r"\u0061", r"\x62", r"\-", "{1,2}",
    "{2}", "é", r"\p{L}", "(?<n>", "😀",
]  # fmt: skip


async def test_patterns_made_at_random_are_read_as_chromium_reads_them(agent: Agent, page: str):
    chance = random.Random(20)
    patterns = ["".join(chance.choices(PARTS, k=chance.randint(1, 7))) for _ in range(2_000)]
    texts = ["", "a", "b", "ab", "-", ".a", "a0", " ", "\n", "é", "(", "[a]", "{2}", "aa,b", "nsd", "\\"]

    theirs = await match(agent, page, patterns, texts)

    checked = [
        (pattern, told, mine) for pattern, told in zip(patterns, theirs, strict=True) if (mine := ours(pattern, texts))
    ]
    assert [each for each in checked if each[1] != each[2]] == []
    assert len(checked) > 500


@pytest.mark.feature("pages.dialects")
async def test_a_listing_names_the_patterns_that_are_not_checked(agent: Agent, site: Site):
    schema = "{properties: {a: {pattern: '(?=x)'}, b: {pattern: 'x'}}}"
    page = await open_page(agent, site.page("/unchecked", offering(tool("look", "input => input", schema))))

    (group,) = (await list_tools(agent, page))["groups"]
    answer = await call(agent, page, "look", {"a": "y", "b": "x"})

    assert group["tools"][0]["unchecked_patterns"] == ["/properties/a/pattern"]
    assert read(answer) == {"a": "y", "b": "x"}
