"""Pictures, sounds and files that a tool returns: what an agent gets to see, and that no page bends it."""

import base64
import json
import re
import stat
import zlib
from collections.abc import Awaitable
from pathlib import Path
from typing import Protocol

import pytest

from bridge import limits
from bridge.calls.agent import Agent
from bridge.calls.answers import Answer
from bridge.calls.bridge import Bridge
from bridge.calls.pipeline import shape
from bridge.page.media import Media
from bridge.settings import AgentSettings
from tests.browser.asking import call, code, open_page, page_of, plain, run_script
from tests.browser.giving import open_giver
from tests.sites import Site, offering, tool

PAINTING = """<script>
  const paint = (blank, width, height) => {
    blank.width = width;
    blank.height = height;
    const context = blank.getContext('2d');
    context.fillStyle = 'rgb(200, 100, 50)';
    context.fillRect(0, 0, width, height);
    return blank;
  };
  const canvas = (width, height) => paint(document.createElement('canvas'), width, height);
  const offscreen = (width, height) => paint(new OffscreenCanvas(1, 1), width, height);
  const noise = (width, height) => {
    const pixels = new ImageData(width, height);
    for (let i = 0; i < pixels.data.length; i += 65536) crypto.getRandomValues(pixels.data.subarray(i, i + 65536));
    for (let i = 3; i < pixels.data.length; i += 4) pixels.data[i] = 255;
    return pixels;
  };
  const noisy = (width, height) => {
    const one = canvas(width, height);
    one.getContext('2d').putImageData(noise(width, height), 0, 0);
    return one;
  };
  const pixels = (width, height) => offscreen(width, height).getContext('2d').getImageData(0, 0, width, height);
  const encoded = (one, type) => new Promise(done => one.toBlob(done, type));
  const bytes = text => Uint8Array.from(atob(text), one => one.charCodeAt(0));
</script>"""
"""What the tests make pictures with, all of one colour but for `noise`."""

GIF = "R0lGODlhAQABAIAAAMhkMgAAACwAAAAAAQABAAACAkQBADs="


class Show(Protocol):
    """Evaluate an expression in the page; what it gives is the tool's result, or the part of it at `select`."""

    def __call__(self, source: str, select: str = "") -> Awaitable[Answer]: ...


@pytest.fixture
async def show(bridge: Bridge, agent: Agent, site: Site) -> Show:
    give = await open_giver(bridge, agent, site, PAINTING)

    async def show(source: str, select: str = "") -> Answer:
        return plain(shape(bridge, await give(source, select), site.origin))

    return show


def picture(answer: Answer) -> bytes:
    """The bytes of the one picture, which its line tells of as it is."""
    [media] = answer.media
    assert isinstance(media, Media)
    assert media.kind == "image"
    data = base64.b64decode(media.data, validate=True)
    assert f"[image {media.mime}, " in answer.text
    assert f"{len(data):,} bytes" in answer.text
    return data


def kept(answer: Answer) -> Path:
    """The file that an answer names."""
    assert answer.media == ()
    found = re.search(r"kept in (/\S+)\]\Z", answer.text)
    assert found is not None, answer.text
    return Path(found[1])


def size_told(answer: Answer) -> tuple[int, int]:
    found = re.search(r"(\d+)\u00d7(\d+)", answer.text)
    assert found is not None, answer.text
    return int(found[1]), int(found[2])


async def decoded(show: Show, answer: Answer) -> str:
    """What a browser sees in the picture: width, height and the colour of the pixel in the middle."""
    [media] = answer.media
    assert isinstance(media, Media)
    seen = await show(
        f"""(async () => {{
          const bitmap = await createImageBitmap(new Blob([bytes('{media.data}')]));
          const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
          const context = canvas.getContext('2d');
          context.drawImage(bitmap, 0, 0);
          const middle = context.getImageData(bitmap.width >> 1, bitmap.height >> 1, 1, 1);
          return [bitmap.width, bitmap.height, ...middle.data];
        }})()"""
    )
    assert seen.text.startswith("["), seen.text
    return seen.text


# What is a picture


@pytest.mark.feature("results.pictures")
@pytest.mark.parametrize(
    "source",
    [
        "canvas(64, 48)",
        "offscreen(64, 48)",
        "pixels(64, 48)",
        "createImageBitmap(pixels(64, 48))",
        "encoded(canvas(64, 48), 'image/png')",
        "new File([bytes(canvas(64, 48).toDataURL().slice(22))], 'a.txt')",
        "canvas(64, 48).toDataURL()",
        "canvas(64, 48).toDataURL().replace('image/png', 'x')",
        "(class extends Blob {}, encoded(canvas(64, 48), 'image/png').then(one => new (class extends Blob {})([one])))",
        "(() => { const frame = document.body.appendChild(document.createElement('iframe'));"
        " return paint(frame.contentDocument.createElement('canvas'), 64, 48) })()",
    ],
)
async def test_a_picture_in_any_form_is_seen(show: Show, source: str):
    answer = await show(source)

    assert picture(answer).startswith(b"\x89PNG")
    assert answer.text.startswith("[image image/png, 64\u00d748, ")
    assert await decoded(show, answer) == "[64,48,200,100,50,255]"


@pytest.mark.parametrize("kind", ["png", "jpeg", "webp"])
async def test_a_small_picture_goes_as_it_is_byte_for_byte(show: Show, kind: str):
    answer = await show(f"encoded(canvas(300, 200), 'image/{kind}').then(blob => globalThis.blob = blob)")

    mine = await show("blob.arrayBuffer().then(all => btoa(String.fromCharCode(...new Uint8Array(all))))")

    [media] = answer.media
    assert media == Media("image", f"image/{kind}", mine.text)
    assert size_told(answer) == (300, 200)


async def test_a_gif_stays_the_animation_that_it_is(show: Show):
    assert (await show(f"new Blob([bytes('{GIF}')])")).media == (Media("image", "image/gif", GIF),)


@pytest.mark.threat("P10")
@pytest.mark.parametrize("declared", ["image/png", "text/html", "image/svg+xml", "application/pdf", "nonsense"])
async def test_the_declared_type_says_nothing(show: Show, declared: str):
    jpeg = await show(f"encoded(canvas(9, 9), 'image/jpeg').then(blob => new Blob([blob], {{type: '{declared}'}}))")
    words = await show(f"new Blob(['just words'], {{type: '{declared}'}})")
    url = await show(f"'data:{declared};base64,{GIF}'")

    assert picture(jpeg).startswith(b"\xff\xd8\xff")
    assert jpeg.media[0].mime == "image/jpeg"
    assert (words.text, words.media) == ("just words", ())
    assert url.media == (Media("image", "image/gif", GIF),)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("'data:image/png;base64,aGVsbG8gdGhlcmUsIHRoaXMgaXMgbm8gcGljdHVyZQ=='", None),
        ("'data:image/png;base64,%%%'", None),
        ("'data:image/svg+xml,<svg></svg>'", None),
        (f"'data:image/gif;base64,{GIF[:40] * 3}… and so on'", None),
        ("'data:'", None),
        ("'dat'", None),
        (f"['data:;base64,{GIF}']", f'["data:;base64,{GIF}"]'),
        ("[new Blob(['a'])]", '["[blob 1 bytes]"]'),
        ("({shot: new OffscreenCanvas(1, 1)})", '{"shot":{"[class]":"OffscreenCanvas"}}'),
        ("Object.create(Blob.prototype)", '{"[class]":"Blob"}'),
        ("Object.create(HTMLCanvasElement.prototype)", '{"[class]":"HTMLCanvasElement"}'),
        ("new Uint8Array([137, 80, 78, 71])", '{"[Uint8Array]":{"length":4,"head":[137,80,78,71]}}'),
        ("new Proxy({a: 1}, {getPrototypeOf() { throw new Error('no') }})", '"[threw Error: no]"'),
    ],
)
async def test_what_is_none_reads_as_ever(show: Show, source: str, text: str | None):
    answer = await show(source)

    assert (answer.text, answer.media) == (source.strip("'") if text is None else text, ())


async def test_a_part_that_is_asked_for_may_be_a_picture(show: Show):
    answer = await show("({shots: [offscreen(5, 4)]})", select="/shots/0")

    assert answer.text.startswith("[image image/png, 5\u00d74, ")


# How large


@pytest.mark.feature("results.pictures")
@pytest.mark.parametrize(
    "source",
    [
        "noisy(4000, 3000)",
        "noise(4000, 3000)",
        "createImageBitmap(noise(4000, 3000))",
        "encoded(noisy(2000, 1500), 'image/jpeg')",
        "encoded(noisy(1000, 750), 'image/png')",
    ],
)
async def test_a_large_picture_is_drawn_smaller_until_it_fits(show: Show, source: str):
    answer = await show(source)

    data = picture(answer)
    width, height = size_told(answer)
    assert 400 < width <= limits.MEDIA_PIXELS
    assert abs(width / height - 4 / 3) < 0.01
    assert len(data) <= limits.MEDIA_BYTES
    assert (await decoded(show, answer)).startswith(f"[{width},{height},")


@pytest.mark.parametrize(
    ("source", "size", "whole"),
    [
        ("canvas(4000, 3000)", (1568, 1176), (4000, 3000)),
        ("offscreen(300, 3000)", (157, 1568), (300, 3000)),
        ("pixels(10000, 1)", (1568, 1), (10000, 1)),
        ("encoded(canvas(1569, 10), 'image/png')", (1568, 10), (1569, 10)),
        ("canvas(1568, 1568)", (1568, 1568), None),
    ],
)
async def test_the_longer_side_is_bounded_and_the_answer_says_what_it_was(
    show: Show, source: str, size: tuple[int, int], whole: tuple[int, int] | None
):
    answer = await show(source)

    picture(answer)
    assert size_told(answer) == size
    told = "" if whole is None else f", scaled down from {whole[0]}\u00d7{whole[1]}"
    assert answer.text.endswith(f" bytes{told}]")
    assert (await decoded(show, answer)).endswith(",200,100,50,255]")


def png(width: int, height: int, rows: bytes) -> str:
    """A PNG of one bit a pixel, in base64; its size need not be true."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")

    head = width.to_bytes(4, "big") + height.to_bytes(4, "big") + b"\x01\x00\x00\x00\x00"
    chunks = (chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b""))
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(chunks)).decode()


MEASURING = "\n".join(
    (Path(__file__).parents[2] / "page_shims" / f"{name}.js").read_text() for name in ("measurePicture", "measureJpeg")
)


@pytest.mark.parametrize(
    ("source", "head"),
    [
        ("encoded(canvas(700, 301), 'image/png')", b"\x89PNG"),
        ("encoded(canvas(700, 301), 'image/jpeg')", b"\xff\xd8"),
        ("encoded(canvas(700, 301), 'image/webp')", b"WEBPVP8X"),
        ("bare('VP8 ', 0.5)", b"WEBPVP8 "),
        ("bare('VP8L', 1)", b"WEBPVP8L"),
        ("new Blob(['GIF89a', new Uint8Array([0xbc, 2, 0x2d, 1, 0, 0, 0])])", b"GIF89a"),
    ],
    ids=["png", "jpeg", "webp", "lossy webp", "lossless webp", "gif"],
)
async def test_a_size_is_known_before_anything_is_decoded(show: Show, source: str, head: bytes):
    told = await show(
        f"""(async () => {{
          {MEASURING}
          const bare = async (chunk, quality) => {{
            const extended = await new Promise(done => canvas(700, 301).toBlob(done, 'image/webp', quality));
            const text = new TextDecoder('latin1').decode(await extended.arrayBuffer());
            return new Blob([extended.slice(0, 12), extended.slice(text.indexOf(chunk, 16))]);
          }};
          const data = new Uint8Array(await (await {source}).arrayBuffer());
          return [{{...measurePicture(data, data.length)}}, btoa(String.fromCharCode(...data.slice(0, 16)))];
        }})()"""
    )

    size, begins = json.loads(told.text)
    assert size == {"width": 700, "height": 301}
    assert head in base64.b64decode(begins)


JPEG_HEAD = base64.b64encode(bytes.fromhex("ffd8ffe000044a46ffc0000b08ea60ea6001011100ffd9")).decode()
WEBP_HEAD = base64.b64encode(b"RIFF\x1e\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\xff\x3f\0\xff\x3f\0" + bytes(8)).decode()


@pytest.mark.parametrize(
    ("data", "suffix"),
    [
        (png(100_000, 100_000, b"\0" * 1000), ".png"),
        (png(20_000, 20_000, b"\0" * 20_000 * 2501), ".png"),
        (png(64, 48, b""), ".png"),
        (png(0, 0, b""), ".png"),
        (base64.b64encode(b"\x89PNG\r\n\x1a\n").decode(), ".png"),
        (JPEG_HEAD, ".jpg"),
        (base64.b64encode(b"\xff\xd8\xff\xe0").decode(), ".jpg"),
        (WEBP_HEAD, ".webp"),
        (base64.b64encode(b"GIF89a\xff\xff\xff\xff").decode(), ".gif"),
    ],
    ids=["100000x100000", "20000x20000", "torn", "0x0", "head", "jpeg", "jpeg-head", "webp", "gif"],
)
async def test_a_picture_that_cannot_or_must_not_be_decoded_becomes_a_file(show: Show, data: str, suffix: str):
    answer = await show(f"new Blob([bytes('{data}')])")

    assert "which the browser does not show" in answer.text
    assert kept(answer).suffix == suffix
    assert kept(answer).read_bytes() == base64.b64decode(data)
    assert (await show("'well'")).text == "well"


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("new OffscreenCanvas(0, 5)", "without pixels"),
        ("createImageBitmap(pixels(2, 2)).then(bitmap => { bitmap.close(); return bitmap })", "without pixels"),
        ("(() => { const one = pixels(2, 2); one.data.buffer.transfer(); return one })()", "could not read"),
        ("(() => { const c = canvas(2, 2); c.getContext('2d'); return c.toDataURL('image/png').slice(0, 40) })()", ""),
    ],
)
async def test_a_picture_of_nothing_says_so(show: Show, source: str, words: str):
    answer = await show(source)

    assert not answer.is_error
    assert answer.media == ()
    assert words in answer.text


ASCII_GIF = "GIF89a\x01\0\x01\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;"


@pytest.mark.parametrize("kept_as", ["drawn", "createImageBitmap(drawn)"])
async def test_pixels_of_another_origin_stay_with_the_browser_and_the_answer_says_so(
    show: Show, other_site: Site, kept_as: str
):
    other_site.bodies["/dot.gif"] = ASCII_GIF

    answer = await show(
        f"""(async () => {{
          const image = new Image();
          image.src = '{other_site.origin}/dot.gif';
          await new Promise(done => image.onload = done);
          const drawn = canvas(9, 9);
          drawn.getContext('2d').drawImage(image, 0, 0);
          return {kept_as};
        }})()"""
    )

    assert "pixels of another origin" in answer.text
    assert (answer.media, answer.is_error) == ((), False)


# Sounds, texts, files


WAV = b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x40\x1f\0\0\x01\0\x08\0data\0\0\0\0"


@pytest.mark.feature("results.pictures")
async def test_a_sound_is_heard_unless_it_is_too_long(show: Show):
    data = base64.b64encode(WAV).decode()

    short = await show(f"new Blob([bytes('{data}')], {{type: 'text/plain'}})")
    url = await show(f"'data:audio/x;base64,{data}'")
    long = await show(f"new Blob([bytes('{data}'), new Uint8Array({limits.MEDIA_BYTES})])")

    assert short.text == f"[audio audio/wav, {len(WAV)} bytes]"
    assert short.media == url.media == (Media("audio", "audio/wav", data),)
    assert long.text.startswith("[file audio/wav, 1,000,044 bytes, kept in ")
    assert kept(long).suffix == ".wav"


async def test_a_blob_of_text_reads_as_its_text(show: Show):
    svg = '<svg xmlns="http://www.w3.org/2000/svg"/>'

    assert (await show("new Blob(['né\\n'])")).text == "né\n"
    assert (await show("new Blob([])")).text == ""
    assert (await show(f"new Blob(['{svg}'], {{type: 'image/svg+xml'}})")).text == svg
    long = await show("new Blob(['x'.repeat(100000)])")
    assert "The result has 100,000 bytes" in long.text.replace("the result", "The result")


@pytest.mark.feature("results.pictures")
async def test_other_data_goes_to_a_file_of_ours(show: Show):
    pdf = await show("new Blob(['%PDF-1.7\\n', new Uint8Array([0, 255])], {type: 'image/png'})")
    unknown = await show("new File([new Uint8Array(3)], '../../evil.sh', {type: 'text/x-sh'})")

    assert pdf.text.startswith("[file application/pdf, 11 bytes, kept in ")
    assert kept(pdf).read_bytes() == b"%PDF-1.7\n\0\xff"
    assert stat.S_IMODE(kept(pdf).stat().st_mode) == 0o600
    assert "evil" not in unknown.text
    assert (kept(unknown).suffix, kept(unknown).parent) == (".bin", kept(pdf).parent)


@pytest.mark.threat("P13")
@pytest.mark.usefixtures("hostile")
async def test_too_much_data_does_not_leave_the_page(show: Show):
    most = await show(f"new Blob([new Uint8Array({limits.FILE_BYTES})])")
    more = await show(f"new Blob([new Uint8Array({limits.FILE_BYTES + 1})])")
    url = await show(f"'data:image/gif;base64,{GIF[:44]}' + 'A'.repeat({limits.FILE_BYTES * 4 // 3})")

    assert kept(most).stat().st_size == limits.FILE_BYTES
    assert more.text.startswith("The tool returned binary data of 16,000,001 bytes. That is more than the 16,000,000")
    assert "more than the 16,000,000" in url.text


# Pages that bend


HOSTILE = """<script>
  const made = {
    element: canvas(64, 48), offscreen: offscreen(2000, 10), pixels: pixels(64, 48), url: canvas(64, 48).toDataURL(),
    text: new Blob(['words']),
  };
  createImageBitmap(made.pixels).then(bitmap => made.bitmap = bitmap);
  encoded(noisy(600, 600), 'image/png').then(blob => made.blob = blob);
  const bad = () => { throw new TypeError('replaced') };
  const bend = () => {
    const define = Object.defineProperty;
    const owners = [Blob, FileReader, HTMLCanvasElement, OffscreenCanvas, OffscreenCanvasRenderingContext2D, Response,
      CanvasRenderingContext2D, ImageBitmap, ImageData, Uint8Array, Object.getPrototypeOf(Uint8Array), ArrayBuffer,
      String, Promise, DOMException, HTMLElement, Reflect];
    for (const { prototype } of owners) {
      if (prototype === undefined) continue;
      for (const name of Object.getOwnPropertyNames(prototype)) {
        const was = Object.getOwnPropertyDescriptor(prototype, name);
        if (!was.configurable || (name === 'constructor' && prototype !== Promise.prototype)) continue;
        define(prototype, name, was.get ? {get: bad, set: bad} : {value: bad});
      }
    }
    for (const name of ['Blob', 'Uint8Array', 'OffscreenCanvas', 'Response', 'createImageBitmap', 'atob', 'btoa',
      'FileReader', 'ImageBitmap', 'URL', 'Promise']) window[name] = bad;
    for (const name of ['type', 'quality', 'width', 'height', 'willReadFrequently', 'alpha', 'colorSpace', 'media',
      'alphabet', 'omitPadding', 'resizeWidth', 'whole', 'problem'])
      define(Object.prototype, name, {__proto__: null, get: bad, set: bad, configurable: true});
  };
  let bent = false;
  const unready = setInterval(() => {
    if (made.blob === undefined || made.bitmap === undefined) return;
    clearInterval(unready);
    bend();
    bent = true;
  }, 5);
</script>"""


@pytest.mark.threat("P7")
@pytest.mark.usefixtures("hostile")
async def test_a_page_that_replaces_what_draws_and_reads_does_not_bend_its_pictures(
    bridge: Bridge, agent: Agent, site: Site
):
    give = tool("give", "({which}) => made[which]")
    handle = await open_page(agent, site.page("/bent", PAINTING + HOSTILE + offering(give)))
    page = await page_of(bridge, handle)
    while not await run_script(page, "bent"):
        pass

    answers = {
        which: await call(agent, handle, "give", {"which": which})
        for which in ("element", "offscreen", "pixels", "url", "text", "bitmap", "blob")
    }

    assert {which: answer.text.partition(" bytes")[0].rpartition(", ")[0] for which, answer in answers.items()} == {
        "element": "[image image/png, 64\u00d748",
        "offscreen": "[image image/png, 1568\u00d78",
        "pixels": "[image image/png, 64\u00d748",
        "url": "[image image/png, 64\u00d748",
        "text": "",
        "bitmap": "[image image/png, 64\u00d748",
        "blob": "[image image/webp, 600\u00d7600",
    }
    assert answers["text"].text == "words"
    assert picture(answers["url"]) == picture(answers["element"])


# The form of MCP


BLOCKS = f"""({{content: [
  {{type: 'text', text: 'Before [NaN]'}}, {{type: 'image', data: '{GIF}', mimeType: 'image/x'}},
  {{type: 'audio', data: '{base64.b64encode(WAV).decode()}', mimeType: 'audio/wav'}}, {{type: 'text', text: '[NaN]'}},
]}})"""


@pytest.mark.threat("P10")
async def test_a_value_that_looks_like_mcp_is_data_of_loopback_origins_too(agent: Agent, site: Site):
    page = await open_page(agent, site.page("/blocks", offering(tool("give", f"() => {BLOCKS}"))))

    answer = await call(agent, page, "give")

    assert answer.text.startswith('{"content":[{"type":"text","text":"Before [NaN]"}')
    assert answer.media == ()


@pytest.mark.threat("P10")
async def test_an_origin_that_the_user_named_may_answer_in_the_form_of_mcp(bridge: Bridge, site: Site):
    agent = Agent(bridge, AgentSettings(trusted_origins=frozenset({site.origin})))
    link = "() => ({content: [{type: 'resource_link', uri: 'file:///etc/passwd', name: 'x'}]})"
    failing = "() => ({content: [{type: 'text', text: 'sold out'}], isError: true})"
    tools = offering(tool("give", f"() => {BLOCKS}"), tool("link", link), tool("fail", failing))
    page = await open_page(agent, site.page("/trusted", tools))

    answer = await call(agent, page, "give")

    assert answer.text == "Before [NaN]\n[image image/gif]\n[audio audio/wav]\n[NaN]"
    assert answer.media == (
        Media("image", "image/gif", GIF),
        Media("audio", "audio/wav", base64.b64encode(WAV).decode()),
    )
    assert (await call(agent, page, "link")).text.startswith('{"content":[{"type":"resource_link"')
    failed = await call(agent, page, "fail")
    assert code(failed) == "tool_threw"
    assert failed.text == "Tool 'fail' ran and says that it failed: sold out"
