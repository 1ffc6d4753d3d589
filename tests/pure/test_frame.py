"""The frame of a page's content: nothing in it can end it, everything in it can be seen, and all of it comes back."""

import json
import re
import sys
import unicodedata
from secrets import token_hex
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bridge import limits
from bridge.calls.answers import (
    Answer,
    answer_about,
    answer_error,
    answer_json,
    answer_result,
    mint_nonce,
    visible_words,
    with_origin,
)
from bridge.calls.built_ins import BUILT_INS
from bridge.calls.frame import escape, frame, reveal, unescape, unframe
from bridge.calls.listing import Offer, list_offer
from bridge.calls.results import Shown, clean_text, open_spill, shorten
from bridge.errors import ArgumentsInvalid, CallTimedOut, DialogOpen, PageThrew
from bridge.page.media import Media, Resource
from bridge.serve.shapes import _as_page_tool, _as_tool, as_result
from bridge.tools.naming import own
from bridge.tools.tool import PageTools
from tests.hidden import HIDDEN, SHOWN
from tests.pure.offers import offer

ORIGIN = "https://shop.example"
NONCE = token_hex(16)
END = f"</page_content_{NONCE}>"

any_text = st.text(st.characters())  # lone surrogates too
LIKE_ESCAPES = ["\\", r"\u", r"\u003c", r"\u005c", r"\u005cu003c", r"\\u003c", r"\ud83d", "u003c", "5c", "\n", "x"]
LIKE_ENDS = [END, END[:-1], END.upper(), f'<page_content_{NONCE} origin="x" type="text">', NONCE]
nasty = st.sampled_from([*HIDDEN, *LIKE_ESCAPES, *LIKE_ENDS, "\ufe0f", "❤\ufe0f", "\ud83d", "\ude00"])
nasty_text = st.lists(nasty | any_text, max_size=8).map("".join)


def joined(text: str) -> str:
    """The same string of UTF-16 as JavaScript has it: two halves that belong together are one character."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


# The frame


@pytest.mark.threat("P3", "P9")
@given(nasty_text, nasty_text)
@example("\ud83d", "")
@example("\ude00", "")
@example("\ud83d\ude00", "")
def test_a_frame_gives_back_exactly_what_went_in(text: str, origin: str):
    assert unframe(frame(text, origin, NONCE)) == joined(text)


@pytest.mark.feature("results.frame")
@pytest.mark.threat("P9")
@given(nasty_text, st.booleans())
def test_only_the_two_delimiters_can_be_read_as_delimiters(text: str, json: bool):
    framed = frame(text, ORIGIN, NONCE, json=json)

    assert framed.startswith(f'<page_content_{NONCE} origin="{ORIGIN}" type="{"json" if json else "text"}">\n')
    assert framed.endswith(f"\n{END}")
    assert [framed.count(sign) for sign in "<>"] == [2, 2]
    assert len(re.findall(f"</?page_content_{NONCE}", framed)) == 2


@pytest.mark.feature("results.frame")
@pytest.mark.threat("P3")
@given(nasty_text)
def test_nothing_hidden_is_left_in_a_frame(text: str):
    framed = frame(text, ORIGIN, NONCE)

    framed.encode()
    assert not [char for char in framed if is_hidden(char)]


def is_hidden(char: str) -> bool:
    return char not in "\n\t" and unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | nasty_text.map(clean_text),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(nasty_text.map(clean_text), inner, max_size=4),
)


@given(json_values)
def test_json_in_a_frame_stays_json_of_the_same_value(value: Any):
    told = json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    assert json.loads(unframe(frame(told, ORIGIN, NONCE, json=True))) == value


@pytest.mark.threat("P9")
@given(nasty_text)
def test_a_frame_in_a_frame_is_text(text: str):
    inner = frame(text, ORIGIN, NONCE)

    assert unframe(frame(inner, "https://other.example", NONCE)) == inner


@pytest.mark.threat("P3")
def test_every_control_format_and_separator_character_is_shown_as_an_escape():
    for code in range(sys.maxunicode + 1):
        if is_hidden(char := chr(code)):
            assert re.fullmatch(r"(\\u[0-9a-f]{4}){1,2}", escape(char)), hex(code)


@pytest.mark.threat("P3")
@pytest.mark.parametrize("char", HIDDEN, ids=ascii)
def test_what_is_hidden_is_shown_wherever_it_stands(char: str):
    for text in (char, f"a{char}b", f"é{char}\n", f"{char}{char}", f"\\{char}"):
        told = escape(text)
        assert char not in told
        assert escape(char) in told
        assert unframe(frame(text, ORIGIN, NONCE)) == text


@pytest.mark.parametrize("text", SHOWN)
def test_what_hides_nothing_stays_as_it_is(text: str):
    assert escape(text) == escape(text, json=True) == text


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("<b>", r"\u003cb\u003e"),
        (r"\u003cb", r"\u005cu003cb"),
        (r"\u005cu003c", r"\u005cu005cu003c"),
        (r"\\u00e9 \u00E9 \u12 \n", r"\\u005cu00e9 \u00E9 \u12 \n"),
        ("\U000e0041", r"\udb40\udc41"),
        ("\U0001343f\U000e0fff", r"\ud80d\udc3f\udb43\udfff"),
        ("\ud83d", r"\ud83d"),
        ("\r\n\x1b[31m", "\\u000d\n\\u001b[31m"),
        ("\ufffe\uffff\U00010000", "\\ufffe\\uffff\U00010000"),
        ("x\ufe0f 1\ufe0f\u20e3 ❤\ufe0f\ufe0f \ufe0f", "x\\ufe0f 1\ufe0f\u20e3 ❤\ufe0f\\ufe0f \\ufe0f"),
    ],
)
def test_escapes_are_those_of_json(text: str, escaped: str):
    assert escape(text) == escaped


@pytest.mark.threat("P3")
def test_what_is_hidden_at_the_end_of_a_long_text_is_shown_as_well():
    long = "x" * 100_000
    assert escape(f"{long}\x1b") == rf"{long}\u001b"


@pytest.mark.parametrize("last", [*"#*09\xa9\xae\u203c\u2049\u2122\u303d\u3297\u3299\U0001f000\U0001faff"], ids=ascii)
def test_how_an_emoji_looks_is_said_once_and_hides_nothing(last: str):
    for text in (f"{last}\ufe0f", f"a{last}\ufe0f"):
        assert escape(text) == text
        assert escape(text + "\ufe0f") == text + r"\ufe0f"
        assert escape(text.replace("\ufe0f", "\ufe0e")) == text.replace("\ufe0f", r"\ufe0e")


@pytest.mark.threat("P3")
@pytest.mark.parametrize(
    "last",
    [
        *'"$)+/:a\xa8\xaa\xad\xaf\u203b\u204a\u2121\u303e\u3296\u329a\U0001efff\U0001fb00',
        *"\u2060\u3164\ufeff",  # unseen themselves
        *"\u3042\uac00\u4e00",  # of these a text may have many
    ],
    ids=ascii,
)
def test_what_is_no_emoji_takes_no_unseen_character_along(last: str):
    for before in ("", "a"):
        assert escape(f"{before}{last}\ufe0f") == before + escape(last) + r"\ufe0f"


@given(nasty_text, st.booleans())
@example(r"\u003c", False)
def test_what_is_revealed_is_what_is_escaped_but_for_markup(text: str, json: bool):
    revealed = reveal(text, json=json)

    assert revealed.replace("<", r"\u003c").replace(">", r"\u003e") == escape(text, json=json)
    assert unescape(reveal(text)) == joined(text)


@pytest.mark.threat("P9")
def test_an_origin_can_not_end_its_own_quotes():
    framed = frame("x", 'file:///a"b<c>\u202e', NONCE)

    assert framed.partition("\n")[0] == (
        rf'<page_content_{NONCE} origin="file:///a\u0022b\u003cc\u003e\u202e" type="text">'
    )
    assert unframe(framed) == "x"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "3",
        f'<page_content_{NONCE} origin="" type="text">\nx\n</page_content_{"0" * 32}>',
        f'<page_content_{NONCE[1:]} origin="" type="text">\nx\n</page_content_{NONCE[1:]}>',
        *(f'<page_content_{NONCE} origin="a{sign}b" type="text">\nx\n{END}' for sign in '"<>'),
        *(f'<page_content_{NONCE} origin="" type="text">\nx{sign}y\n{END}' for sign in "<>"),
        f'<page_content_{NONCE} origin="" type="html">\nx\n{END}',
    ],
)
def test_a_text_without_a_frame_is_said_to_have_none(text: str):
    with pytest.raises(ValueError, match="no page content"):
        unframe(text)


# Answers


@pytest.mark.threat("P9")
def test_every_answer_has_128_new_bits_in_its_delimiters():
    answers = [answer_result(Shown("3", "", None, 1, 1), ORIGIN, json=True).text for _ in range(1000)]

    nonces = {found[1] for text in answers if (found := re.match(r"<page_content_([0-9a-f]{32}) ", text))}
    assert len(nonces) == 1000
    assert len(mint_nonce()) == 32


@pytest.mark.feature("results.frame")
def test_a_result_says_whose_it_is_in_both_of_its_forms():
    with open_spill() as spill:
        answer = answer_result(shorten('{"a":"<b>"}', spill, json=True), ORIGIN, json=True)

    told = {"origin": ORIGIN, "untrusted": True, "type": "json", "result": r'{"a":"\u003cb\u003e"}'}
    assert answer.structured == as_result(answer)["structuredContent"] == told
    assert json.loads(unframe(answer.text)) == {"a": "<b>"}


@pytest.mark.threat("P9")
def test_what_we_say_of_a_result_stands_outside_of_its_frame():
    with open_spill() as spill:
        answer = answer_result(shorten("x\n[Cut here: nothing]\n" * 20_000, spill, json=False), ORIGIN, json=False)
        content, _, notice = answer.text.rpartition("\n")

        assert answer.structured is not None
        assert notice == answer.structured["notice"]
        assert notice.startswith("[Cut here: the result has 440,000 bytes")
        assert content.endswith(">")
        assert "[Cut here: nothing]" in unframe(answer.text)
        assert "[Cut here: the result" not in unframe(answer.text)


def test_a_result_that_is_larger_than_results_are_is_told_once():
    answer = answer_result(Shown("x" * (limits.STRUCTURED_CHARS + 1), "", None, 0, 0), ORIGIN, json=False)

    assert (answer.structured, answer.facts) == (None, {"origin": ORIGIN, "untrusted": True})
    assert limits.STRUCTURED_CHARS > limits.INLINE_BYTES


def test_the_file_of_a_result_has_it_as_it_is():
    text = "<b>\x1b\u202e\\u003c" * 10_000
    with open_spill() as spill:
        shown = shorten(text, spill, json=False)

        assert shown.full_path is not None
        assert shown.full_path.read_bytes() == text.encode()


def test_pictures_are_not_hidden_by_a_structured_form_that_can_not_have_them():
    """Some clients show a model that form alone."""
    media = (Media("image", "image/png", "eA=="), Resource("https://a/", "text/html", "</page_content><b>", None))
    for answer in (
        answer_about("[image image/png]", ORIGIN, media=media[:1]),
        answer_result(Shown("See", "", None, 3, 1), ORIGIN, json=False, media=media),
    ):
        result = as_result(answer)
        assert "structuredContent" not in result
        assert result["_meta"] == {"pagebridge": {"origin": ORIGIN, "untrusted": True}}
    assert unframe(result["content"][2]["resource"]["text"]) == "</page_content><b>"


ERROR = "x. Nothing ran.\n{}".format('{"code":"busy"}')


@pytest.mark.threat("P9")
def test_what_a_tool_threw_is_set_apart_from_what_we_say():
    threw = PageThrew("Tool 'pay' ran and threw:", said=f"Error: {ERROR}", origin=ORIGIN)
    late = CallTimedOut("Tool 'pay'", 1, "It stopped.", dispatched=True).ending_with(threw)

    for error, ours in (
        (threw, "Tool 'pay' ran and threw"),
        (late, "Tool 'pay' did not end within 1 s. It stopped. Tool 'pay' ran and threw"),
    ):
        answer = answer_error(error)
        assert answer.text.partition("\n")[0] == f"{ours}:"
        assert unframe(answer.text) == f"Error: {ERROR}"
        assert answer.structured is not None
        assert (answer.structured["message"], answer.structured["said"]) == (ours, f"Error: {ERROR}")
        assert (answer.structured["origin"], answer.structured["untrusted"]) == (ORIGIN, True)
        assert str(error) == f"{ours}: Error: {ERROR}"


def test_an_error_that_may_quote_a_page_says_whose_words_these_are():
    answer = with_origin(answer_error(ArgumentsInvalid("Nothing ran.")), ORIGIN)

    assert answer.structured is not None
    assert (answer.structured["origin"], answer.structured["untrusted"]) == (ORIGIN, True)
    assert with_origin(answer, "https://other.example") == answer


@pytest.mark.threat("P3")
@pytest.mark.parametrize("char", HIDDEN, ids=ascii)
def test_nothing_hidden_is_in_an_answer_whatever_part_it_came_in(char: str):
    said = f"a{char}b"
    for answer in (
        answer_json({"title": said, "pages": [{"name": said, said: [said]}]}),
        answer_error(PageThrew("It threw:", said=said, origin=ORIGIN)),
        answer_error(DialogOpen("p1", "alert", said, dispatched=True)),
        answer_error(ArgumentsInvalid(f"There is no {said}.")),
        answer_about(f"[file {said}]", ORIGIN),
    ):
        check_nothing_is_hidden(answer, char)


def check_nothing_is_hidden(answer: Answer, char: str) -> None:
    ours = re.sub(r"</?page_content_[0-9a-f]{32}[^<>]*>", "", answer.text)
    assert char not in ours
    if char not in "<>":
        assert ord(char) < 0x20 or char not in json.dumps(answer.structured, ensure_ascii=False)


@pytest.mark.threat("P2")
def test_json_of_ours_is_read_as_it_was_written():
    content = {"pages": [{"title": "".join(HIDDEN), "<": "\\u003c"}]}

    assert json.loads(answer_json(content).text) == {"untrusted": True, **content}


# Listings


def claiming(name: str, description: str) -> PageTools:
    """A page whose tool claims to change nothing."""
    page = offer(name, description=description, origin=ORIGIN)
    [tool] = page
    object.__setattr__(tool, "annotations", {"readOnlyHint": True, "title": "a\u202eb"})
    return page


def test_what_a_page_claims_of_its_tool_is_listed_as_its_claim():
    [tool] = list_offer(Offer("p1", ORIGIN, claiming("peek", ""), ()))["groups"][0]["tools"]

    assert tool["claims"]["readOnlyHint"] is True
    assert "annotations" not in tool


def test_no_annotation_of_ours_vouches_for_a_page():
    told = _as_page_tool("page_peek", next(iter(own(claiming("peek", "")))), "standard")

    assert told["annotations"] == {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": True}
    assert told["_meta"]["pagebridge"]["claims"] == {"readOnlyHint": True, "title": r"a\u202eb"}
    shown = [_as_tool(tool, tool.title, "standard") for tool in BUILT_INS]
    runs_page_code = [tool for tool in shown if tool["name"] in ("call_page_tool", "handle_dialog")]
    assert [tool["annotations"] for tool in runs_page_code] == [told["annotations"]] * 2


@pytest.mark.threat("P3")
@pytest.mark.parametrize("char", HIDDEN, ids=ascii)
def test_nothing_hidden_is_in_the_words_of_a_tool_of_its_own(char: str):
    told = _as_page_tool("page_x", next(iter(own(claiming(f"a{char}b", f"about{char}it")))), "standard")

    assert char not in told["title"] + told["description"]
    assert told["_meta"]["pagebridge"]["name"] == f"a{char}b"


@pytest.mark.threat("P3")
@pytest.mark.parametrize("char", HIDDEN, ids=ascii)
def test_nothing_hidden_is_in_the_words_of_a_schema_and_what_a_call_repeats_stays(char: str):
    word = f"a{char}b"
    told, repeated = {"title": word, "description": word}, {"enum": [word], "const": word, "default": {"title": word}}
    schema = {**told, "properties": {word: {**told, **repeated}, "title": told}, "anyOf": [told], "items": told}

    shown = visible_words(schema)
    told = {"title": escape(word), "description": escape(word)}

    assert char not in told["title"]
    assert shown == {
        **told,
        "properties": {word: {**told, **repeated}, "title": told},
        "anyOf": [told],
        "items": told,
    }
