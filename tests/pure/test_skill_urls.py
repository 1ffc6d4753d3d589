"""Addresses in skills: by one strict grammar, compared in one form; and names of files that lead nowhere."""

import socket
from ipaddress import ip_address
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge import limits
from bridge.errors import ArgumentsInvalid, NotAllowed, PageNotFound
from bridge.tools.skills.addresses import read_address, why_not_public
from bridge.tools.skills.downloads import check_folder, open_download, safe_name, told_name
from bridge.tools.skills.run import fill_payload, make_request
from bridge.tools.skills.urls import fill_template, read_endpoint, read_rule, read_url
from tests.skills import LOOK_UP, Context, tool_of


def reason(url: str) -> str:
    with pytest.raises(ValueError, match=r"^(is|has|must) ") as caught:
        read_endpoint(url)
    return str(caught.value)


# Endpoints


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("https://api.tides.example/v1", "https://api.tides.example/v1"),
        ("HTTPS://API.Tides.example:443", "https://api.tides.example/"),
        ("https://api.tides.example:8443/a?b=c", "https://api.tides.example:8443/a?b=c"),
        ("https://api.tides.example/é?ü", "https://api.tides.example/%C3%A9?%C3%BC"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ("https://8.8.8.8/", "https://8.8.8.8/"),
        ("https://[2606:4700::1111]/", "https://[2606:4700::1111]/"),
    ],
)
def test_an_endpoint_is_written_in_one_form(written: str, read: str):
    assert str(read_endpoint(written)) == read


@pytest.mark.threat("S7")
@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://api.tides.example/", "is not https"),
        ("ftp://api.tides.example/", "has the scheme ftp"),
        ("//api.tides.example/", "is no whole address"),
        ("api.tides.example", "is no whole address"),
        ("", "is no whole address"),
        ("https:///v1", "has no host"),
        ("https:api.tides.example", "is no whole address"),
        ("https://me@api.tides.example/", "has a user name in it"),
        ("https://me:pass@api.tides.example/", "has a user name in it"),
        ("https://api.tides.example@evil.example/", "has a user name in it"),
        ("https://api.tides.example\\@evil.example/", "has '\\\\' in it"),
        ("https://api.tides.example/\r\nX-Evil: 1", "has '\\r' in it"),
        ("https://api.tides.example/\tb", "has '\\t' in it"),
        ("https://api.tides.example/a b", "has ' ' in it"),
        ("https://api.tides.example/%zz", "has '%' in it"),
        ("https://api.tides.example/#top", "has a fragment"),
        ("https://api.tides.example/a/../b", "as a part of its path"),
        ("https://api.tides.example/a/%2e%2E/b", "as a part of its path"),
        ("https://api.tides.example/a/%252e%252e/b", "as a part of its path"),
        ("https://api.tides.example/a/..%2fb", "as a part of its path"),
        ("https://api.tides.example/a/..;x/b", "as a part of its path"),
        ("https://api.tides.example:0/", "has the port 0"),
        ("https://api.tides.example:65536/", "has the port 65536"),
        ("https://api.tides.example:https/", "has no host that can be read"),
        ("https://api..example/", "can be none"),
        ("https://-a.example/", "can be none"),
        ("https://api.tides.example./", "can be none"),
        (f"https://{'a' * 64}.example/", "can be none"),
        (f"https://{'a.' * 130}example/", "can be none"),
        ("https://xn--a\u3002example/", "can be none"),
        ("https://127.1/", "an address in a form that nobody needs"),
        ("https://0x7f.0.0.1/", "an address in a form that nobody needs"),
        ("https://2130706433/", "an address in a form that nobody needs"),
        ("https://0177.0.0.1/", "an address in a form that nobody needs"),
        ("https://[::1%25lo]/", "has no host"),
        ("https://localhost/", "has a host in localhost"),
        ("https://db.localhost/", "has a host in localhost"),
        ("https://metadata.google.internal/", "has a host in internal"),
        ("https://printer.local/", "has a host in local"),
    ],
)
def test_an_endpoint_that_could_be_read_otherwise_or_is_not_public_is_refused(url: str, why: str):
    assert why in reason(url)


def test_an_endpoint_may_be_as_long_as_the_limit():
    head = "https://api.tides.example/"

    read_endpoint(head + "x" * (limits.ENDPOINT_CHARS - len(head)))
    assert "2,049 characters" in reason(head + "x" * (limits.ENDPOINT_CHARS - len(head) + 1))


def test_a_service_on_this_machine_is_one_that_a_person_named():
    named = frozenset({"https://localhost:8443"})

    assert str(read_endpoint("https://localhost:8443/v1", named)) == "https://localhost:8443/v1"
    with pytest.raises(ValueError, match="has a host in localhost"):
        read_endpoint("https://localhost:8444/v1", named)


@given(st.text() | st.from_regex(r"\Ahttps?://[^/]{0,20}/.{0,20}\Z"))
def test_what_is_read_is_read_the_same_again(text: str):
    try:
        url = read_url(text)
    except ValueError:
        return
    assert read_url(str(url)) == url
    assert str(url).isascii()
    assert str(url).isprintable()


# Jobs


@pytest.mark.threat("S8")
@pytest.mark.parametrize(
    ("job_id", "path"),
    [
        ("42", "/jobs/42"),
        ("a b", "/jobs/a%20b"),
        ("é?#&", "/jobs/%C3%A9%3F%23%26"),
        ("@evil.example", "/jobs/%40evil.example"),
        ("{job_id}", "/jobs/%7Bjob_id%7D"),
    ],
)
def test_the_id_of_a_job_stays_in_its_place(job_id: str, path: str):
    url = fill_template("https://api.tides.example/jobs/{job_id}", job_id, "https://api.tides.example")

    assert (url.origin, url.path) == ("https://api.tides.example", path)


@pytest.mark.threat("S8")
@pytest.mark.parametrize("job_id", ["", " ", ".", "..", "../../x", "a/b", "a\\b", "%2e%2e", "a\r\nb", "a\0", "x" * 257])
def test_an_id_that_leads_elsewhere_is_refused(job_id: str):
    with pytest.raises(ValueError, match=r"can't stand in an address|and 256 are allowed"):
        fill_template("https://api.tides.example/jobs/{job_id}", job_id, "https://api.tides.example")


@pytest.mark.threat("S8")
def test_the_id_may_come_twice_in_an_address():
    url = fill_template("https://a.example/{job_id}?id={job_id}", "7&x", "https://a.example")

    assert url.target == "/7%26x?id=7%26x"


@given(st.text(max_size=50))
@pytest.mark.threat("S8")
def test_no_id_leads_to_another_place(job_id: str):
    try:
        url = fill_template("https://a.example/jobs/{job_id}/file", job_id, "https://a.example")
    except ValueError:
        return
    head, job, tail = url.path.removeprefix("/").split("/")
    assert (url.origin, head, tail, url.query, url.fragment) == ("https://a.example", "jobs", "file", "", "")
    assert job not in ("", ".", "..")


# What a tool may be given


@pytest.mark.feature("skills.addresses")
@pytest.mark.parametrize(
    ("host", "paths", "url", "is_admitted"),
    [
        ("youtube.com", ["/watch"], "https://youtube.com/watch?v=1", True),
        ("youtube.com", ["/watch"], "https://www.youtube.com/watch", True),
        ("youtube.com", ["/watch"], "http://youtube.com/watch/x", True),
        ("youtube.com", ["/watch"], "https://youtube.com/watches", False),
        ("youtube.com", ["/watch"], "https://youtube.com/Watch", False),
        ("youtube.com", ["/watch"], "https://youtube.com/w%61tch", False),
        ("youtube.com", ["/watch"], "https://youtube.com/", False),
        ("youtube.com", ["/shorts/"], "https://youtube.com/shorts/7", True),
        ("youtube.com", ["/shorts/"], "https://youtube.com/shortstop", False),
        ("youtube.com", ["/a", "/b"], "https://youtube.com/b", True),
        ("youtube.com", ["/"], "https://notyoutube.com/", False),
        ("youtube.com", ["/"], "https://youtube.com.evil.example/", False),
        ("youtube.com", ["/"], "https://youtube.com:8443/", True),
        ("youtube.com:8443", ["/"], "https://youtube.com:8443/", True),
        ("youtube.com:8443", ["/"], "https://youtube.com/", False),
        ("youtube.com:443", ["/"], "https://youtube.com/", True),
        ("youtube.com:443", ["/"], "http://youtube.com/", False),
        ("YouTube.com", ["/"], "https://YOUTUBE.COM/", True),
        ("bücher.example", ["/"], "https://xn--bcher-kva.example/", True),
        ("xn--bcher-kva.example", ["/"], "https://BÜCHER.example/", True),
        ("youtube.com", ["/"], "https://y\u043eutube.com/", False),
        ("8.8.8.8", ["/"], "https://8.8.8.8/", True),
        ("youtube.com", ["/é"], "https://youtube.com/é/x", True),
    ],
)
@pytest.mark.threat("S7")
def test_an_allow_list_means_hosts_ports_and_whole_parts_of_paths(
    host: str, paths: list[str], url: str, is_admitted: bool
):
    assert read_rule(host, tuple(paths)).admits(read_url(url)) is is_admitted


SUMMARY = {
    **LOOK_UP,
    "parameters": {"type": "object", "properties": {"url": {"type": "string"}, "lang": {"type": "string"}}},
    "activeTabUrlArg": "url",
    "inputUrlArg": "url",
    "inputUrlAllowlist": [{"host": "news.example", "paths": ["/read"]}],
    "defaultArgs": {"format": "short"},
}


async def payload(arguments: dict[str, Any], **addresses: str) -> dict[str, Any]:
    return await fill_payload(tool_of(SUMMARY), arguments, Context(**addresses))


async def test_a_service_gets_the_address_in_the_form_that_was_checked():
    assert await payload({"url": "HTTPS://News.example:443/read/é#p3"}) == {
        "url": "https://news.example/read/%C3%A9#p3",
        "format": "short",
    }


async def test_what_browsers_do_not_encode_is_encoded():
    address = "https://news.example/read/a|b^c?filter={%22a%22:[1]}&share=100%&t=`x`"

    assert (await payload({"page": "p1"}, p1=address))["url"] == (
        "https://news.example/read/a%7Cb%5Ec?filter=%7B%22a%22:[1]%7D&share=100%25&t=%60x%60"
    )


@pytest.mark.feature("skills.addresses")
async def test_the_address_of_a_page_goes_without_its_fragment():
    address = "https://news.example/read/1?a=b#access_token=secret"

    assert await payload({"page": "p1", "lang": "fr"}, p1=address) == {
        "url": "https://news.example/read/1?a=b",
        "lang": "fr",
        "format": "short",
    }


async def test_an_address_that_is_given_comes_before_that_of_the_page():
    given_url = "https://news.example/read/2"

    assert (await payload({"page": "p1", "url": given_url}, p1="https://news.example/read/1"))["url"] == given_url


@pytest.mark.feature("skills.arguments")
@pytest.mark.parametrize("name", ["unit", "key"])
async def test_what_a_skill_has_said_once_and_for_all_is_not_said_otherwise(name: str):
    parameters = {"type": "object", "additionalProperties": True}
    endpoint = "https://api.tides.example/v1?key=7"
    tool = tool_of({**LOOK_UP, "endpoint": endpoint, "parameters": parameters, "defaultArgs": {"unit": "m"}})

    assert await fill_payload(tool, {"more": 1}, Context()) == {"unit": "m", "more": 1}
    with pytest.raises(ArgumentsInvalid, match=f"`{name}` of 'tide_now' is its skill's to say: leave it out"):
        await fill_payload(tool, {name: "x"}, Context())


@pytest.mark.threat("S7")
@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("https://bank.example/?token=1", "the addresses that may be"),
        ("https://news.example/account", "the addresses that may be"),
        ("file:///home/me/.ssh/id", "has the scheme file"),
        ("about:blank", "is no whole address"),
        ("https://me:pass@news.example/read", "has a user name in it"),
    ],
)
async def test_the_address_of_a_page_is_held_to_the_same_list(address: str, why: str):
    with pytest.raises(NotAllowed, match=why):
        await payload({"page": "p1"}, p1=address)


@pytest.mark.parametrize(
    ("arguments", "error", "why"),
    [
        ({"url": f"https://{'é' * 1_000_000}.example/"}, ArgumentsInvalid, "which can be none"),
        ({}, ArgumentsInvalid, "Give 'tide_now' a `url`, or a `page` whose address is sent"),
        ({"url": ""}, ArgumentsInvalid, "Give 'tide_now' a `url`"),
        ({"page": "p9"}, PageNotFound, "There is no page 'p9'"),
        ({"url": "news.example/read"}, ArgumentsInvalid, "`url` of 'tide_now' is no whole address"),
        ({"url": "https://me@news.example/read"}, ArgumentsInvalid, "has a user name in it"),
        ({"url": "javascript:alert(1)"}, ArgumentsInvalid, "is no whole address"),
        ({"url": "https://bank.example/read"}, NotAllowed, "this is none of them"),
    ],
    ids=lambda part: str(part)[:40],
)
async def test_an_address_that_is_missing_or_none_is_told(arguments: dict[str, Any], error: type[Exception], why: str):
    with pytest.raises(error, match=why):
        await payload(arguments)


# Requests


@pytest.mark.feature("skills.arguments")
def test_a_look_up_has_its_arguments_in_the_query():
    tool = tool_of({**LOOK_UP, "endpoint": "https://api.tides.example/v1?unit=m"})
    arguments = {"place": "Île & Co", "days": 3, "parts": ["a", {"b": None}], "exact": True}

    target, content = make_request(tool, arguments)

    assert content is None
    assert target == ("/v1?unit=m&place=%C3%8Ele+%26+Co&days=3&parts=%5B%22a%22%2C%7B%22b%22%3Anull%7D%5D&exact=true")
    assert make_request(tool_of(LOOK_UP), {}) == ("/v1/tide", None)
    assert make_request(tool_of(LOOK_UP), {"a": "1"}) == ("/v1/tide?a=1", None)


def test_a_post_has_its_arguments_in_the_body():
    target, content = make_request(tool_of({**LOOK_UP, "method": "POST"}), {"place": "Île", "days": 3})

    assert (target, content) == ("/v1/tide", b'{"place": "\\u00cele", "days": 3}')


def test_arguments_that_make_too_long_an_address_are_refused():
    room = limits.SKILL_URL_CHARS - len("/v1/tide?a=")

    assert len(make_request(tool_of(LOOK_UP), {"a": "x" * room})[0]) == limits.SKILL_URL_CHARS
    with pytest.raises(ArgumentsInvalid, match="make an address of 8,193 characters, and 8,192 are allowed"):
        make_request(tool_of(LOOK_UP), {"a": "x" * (room + 1)})


# Addresses of the network


@pytest.mark.threat("S7")
@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("127.0.0.1", "this machine itself"),
        ("127.255.0.9", "this machine itself"),
        ("::1", "this machine itself"),
        ("::ffff:127.0.0.1", "this machine itself"),
        ("64:ff9b::127.0.0.1", "this machine itself"),
        ("2002:7f00:1::", "this machine itself"),
        ("169.254.169.254", "link-local"),
        ("::ffff:169.254.169.254", "link-local"),
        ("fe80::1%eth0", "link-local"),
        ("10.0.0.1", "in a private network"),
        ("172.16.0.1", "in a private network"),
        ("192.168.1.1", "in a private network"),
        ("fd00:ec2::254", "in a private network"),
        ("64:ff9b::10.0.0.1", "in a private network"),
        ("0.0.0.0", "in a private network"),
        ("0.1.2.3", "in a private network"),
        ("::", "in a private network"),
        ("255.255.255.255", "in a private network"),
        ("240.0.0.1", "in a private network"),
        ("198.18.0.1", "in a private network"),
        ("192.0.2.1", "in a private network"),
        ("100.64.0.1", "not of the public internet"),
        ("100.100.100.200", "not of the public internet"),
        ("168.63.129.16", "not of the public internet"),
        ("192.0.0.192", "not of the public internet"),
        ("192.88.99.1", "not of the public internet"),
        ("224.0.0.1", "not of the public internet"),
        ("ff02::1", "not of the public internet"),
        ("ff0e::1", "not of the public internet"),
        ("fec0::1", "not of the public internet"),
        ("::8.8.8.8", "not of the public internet"),
        ("64:ff9b:1::1", "not of the public internet"),
        ("5f00::1", "not of the public internet"),
        ("2001::1", "in a private network"),
        ("2001:db8::1", "in a private network"),
        ("3fff::1", "not of the public internet"),
    ],
)
def test_an_address_that_is_not_public_is_known_in_each_form(address: str, why: str):
    found = why_not_public(read_address(address))

    assert found is not None
    # Pythons count some of the rarer networks to another kind.
    assert why in found or {why, found.removeprefix("which is ")} < {
        "in a private network",
        "not of the public internet",
    }


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "168.63.129.17", "1.1.1.1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8"]
)
def test_an_address_of_the_public_internet_is_one(address: str):
    assert why_not_public(read_address(address)) is None


@given(st.integers(0, 2**32 - 1))
@pytest.mark.threat("S7")
def test_no_form_of_an_address_makes_it_more_public(number: int):
    plain = ip_address(number)
    for text in (f"::ffff:{plain}", f"64:ff9b::{plain}", f"2002:{number >> 16:x}:{number & 0xFFFF:x}::"):
        assert (why_not_public(read_address(text)) is None) == (why_not_public(plain) is None)


# Files


@pytest.mark.threat("S8")
@pytest.mark.parametrize(
    ("wanted", "name"),
    [
        ("chart.png", "chart.png"),
        ("../../.bashrc", "bashrc"),
        ("/etc/passwd", "passwd"),
        ("C:\\Windows\\evil.dll", "evil.dll"),
        ("..", "otherwise"),
        ("", "otherwise"),
        ("a/", "otherwise"),
        ("...", "otherwise"),
        ("CON", "_CON"),
        ("con.txt", "_con.txt"),
        ("LPT1.tar.gz", "_LPT1.tar.gz"),
        ("COM\u00b9", "_COM\u00b9"),
        ("console.txt", "console.txt"),
        ("-rf", "_-rf"),
        ("~root", "_~root"),
        ("chart.png. . ", "chart.png"),
        ("a\0b\r\nc\x1b[2J", "abc[2J"),
        ("invoice\u202egnp.exe", "invoicegnp.exe"),
        ("a:b|c?.txt", "a_b_c_.txt"),
        ("%2e%2e%2fx", "_2e_2e_2fx"),
        ("e\u0301.txt", "\u00e9.txt"),
        ("half\ud800.txt", "half_.txt"),
        ("x" * 300 + ".png", "x" * 146 + ".png"),
        ("é" * 300 + ".png", "é" * 73 + ".png"),
        ("." + "x" * 300, "x" * 150),
    ],
)
def test_a_file_gets_a_name_that_leads_nowhere(wanted: str, name: str):
    assert safe_name(wanted, "otherwise") == name


@given(st.text())
@pytest.mark.threat("S8")
def test_any_name_becomes_one_part_of_a_path(wanted: str):
    name = safe_name(wanted, "otherwise")

    assert name
    assert not name.startswith((".", "-", "~"))
    assert not set(name) & set('/\\\0:*?"<>|')
    assert len(name.encode()) <= limits.DOWNLOAD_NAME_BYTES + len("_")


@pytest.mark.threat("S8")
@pytest.mark.parametrize(
    ("disposition", "name"),
    [
        ('attachment; filename="chart.png"', "chart.png"),
        ("attachment; filename=chart.png", "chart.png"),
        ("attachment; filename*=UTF-8''ch%C3%A2rt.png", "chârt.png"),
        ("attachment; filename*=UTF-8''..%2F..%2Fx", "../../x"),
        ("attachment; filename*=nonsense''x", "x"),
        ("attachment; filename=plain.png; filename*=UTF-8''ch%C3%A2rt.png", "chârt.png"),
        ("attachment; FileName*=UTF-8''ch%C3%A2rt.png; filename=plain.png", "chârt.png"),
        ("attachment", ""),
        ("", ""),
        (f"attachment; filename={'x' * 5000}", ""),
    ],
)
def test_the_name_in_an_answer_is_only_a_wish(disposition: str, name: str):
    assert told_name(disposition) == name


@given(st.text())
def test_any_disposition_is_read(disposition: str):
    told_name(disposition)


@pytest.mark.threat("S8")
def test_a_file_never_takes_the_place_of_another(tmp_path: Path):
    (tmp_path / "chart.png").write_bytes(b"mine")
    (tmp_path / "chart-2.png").symlink_to(tmp_path / "nowhere")

    with open_download(tmp_path, "chart.png") as (path, file):
        file.write(b"new")

    assert path.name == "chart-3.png"
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "chart.png").read_bytes() == b"mine"
    assert not (tmp_path / "nowhere").exists()


def _break_off(file: BinaryIO):
    file.write(b"half")
    raise BrokenPipeError


def test_a_file_that_did_not_come_whole_is_removed(tmp_path: Path):
    with pytest.raises(BrokenPipeError), open_download(tmp_path, "chart.png") as (_, file):
        _break_off(file)

    assert list(tmp_path.iterdir()) == []


@pytest.mark.feature("skills.jobs")
@pytest.mark.threat("S8")
def test_files_are_kept_in_the_declared_folder_alone(tmp_path: Path):
    (tmp_path / "link").symlink_to(tmp_path)
    (tmp_path / "file").touch()
    (tmp_path / "inner").mkdir()

    assert check_folder(tmp_path / "inner") == tmp_path / "inner"
    for folder in (None, tmp_path / "link", tmp_path / "link" / "inner", tmp_path / "file", tmp_path / "missing"):
        with pytest.raises(NotAllowed, match="folder"):
            check_folder(folder)
    with pytest.raises(NotAllowed, match="folder"), open_download(tmp_path / "link", "x"):
        pass


def test_so_many_files_may_want_one_name(tmp_path: Path):
    for _ in range(limits.DOWNLOAD_NAMES):
        with open_download(tmp_path, "a.b"):
            pass

    with pytest.raises(NotAllowed, match=r"There are 100 files named like 'a\.b'"), open_download(tmp_path, "a.b"):
        pass


def test_the_resolver_of_this_test_is_the_systems():
    """`getaddrinfo` reads forms of addresses that no skill may use: those are refused before, and checked after."""
    ((*_, where),) = socket.getaddrinfo("0x7f.1", 443, type=socket.SOCK_STREAM)

    assert why_not_public(read_address(str(where[0]))) is not None
