"""The bench's own arithmetic: statistics, bars, comparison, table, plot, traces."""

import os
import threading
from xml.etree import ElementTree

import pytest

from bench.channel import Channel, ChannelEnded
from bench.figures import WORSE, Check, Figure, compared, faults, record, sample_of
from bench.plot import plot
from bench.process_costs import ticks_in
from bench.profile_call import phases_of, read_imports, steps_of
from bench.speed import between_marks
from bench.table import as_columns, as_markdown
from bench.traced_serve import WAITS
from bench.websocket import frame


def call_figure(ours: float, *, raw: float = 1.0) -> Figure:
    return compared("call", "a call", {"ours": [ours], "raw": [raw], "peer": []}, bars={"raw": 2.0, "peer": 0.25})


def test_nine_in_ten_values_stay_below_the_90th_percentile():
    sample = sample_of([float(value) for value in range(10, 0, -1)])
    assert (sample.median, sample.p90, sample.runs) == (5.5, 9, 10)


def test_one_value_is_its_own_median_and_percentile():
    assert (sample_of([3.0]).median, sample_of([3.0]).p90) == (3.0, 3.0)


def test_a_system_that_was_not_measured_sets_no_bar():
    figure = call_figure(1.5)
    assert [check.what for check in figure.checks] == ["÷ raw"]
    assert set(figure.samples) == {"ours", "raw"}


def test_a_value_that_is_the_bar_passes():
    assert Check("ms", 2.0, 2.0).passes
    assert not Check("ms", 2.01, 2.0).passes
    assert Check("throughput", 0.5, 0.5, at_least=True).passes
    assert not Check("throughput", 0.49, 0.5, at_least=True).passes


def test_a_missed_bar_is_told_with_its_value():
    assert faults([call_figure(2.5)], {}) == ["a call: ÷ raw is 2.5, the bar is ≤ 2."]
    assert faults([call_figure(1.9)], {}) == []


def test_a_ratio_that_is_clearly_worse_than_the_recorded_one_is_told():
    recorded = record([call_figure(1.0)])
    assert faults([call_figure(WORSE - 0.01)], recorded) == []
    [fault] = faults([call_figure(WORSE + 0.01)], recorded)
    assert "1 is recorded" in fault


def test_a_lower_throughput_is_worse():
    before = Check("throughput", 0.8, 0.5, at_least=True)
    assert Check("throughput", 0.55, 0.5, at_least=True).is_worse_than(before.value)
    assert not Check("throughput", 1.5, 0.5, at_least=True).is_worse_than(before.value)


def test_absolute_values_are_not_held_against_those_of_another_machine():
    assert not Check("ms", 0.19, 0.2, is_ratio=False).is_worse_than(0.01)


def test_the_table_has_one_row_a_check_and_says_which_bar_is_missed():
    figure = compared("call", "a call", {"ours": [3.0], "raw": [1.0], "peer": [20.0]}, bars={"raw": 2.0, "peer": 0.25})
    head, _, first, second, *_ = as_columns([figure]).splitlines()
    assert head.startswith("figure")
    assert first.startswith("a call")
    assert first.split()[-6:] == ["3", "÷", "raw", "(≤", "2)", "MISSED"]
    assert second.split() == ["0.15", "÷", "peer", "(≤", "0.25)", "ok"]


def test_every_markdown_row_has_as_many_cells_as_its_head():
    lines = as_markdown([call_figure(1.0), compared("memory", "memory", {"ours": [1.0, 2.0]}, bars={})]).splitlines()
    assert len({line.count("|") for line in lines}) == 1


def test_the_plot_is_svg_with_a_bar_for_each_system_and_text_that_is_escaped():
    figure = compared("load", "load <→> tools", {"ours": [-1.0], "raw": [2.0]}, bars={})
    drawn = ElementTree.fromstring(plot([figure, compared("alone", "alone", {"ours": [1.0]}, bars={})]))
    svg = "{http://www.w3.org/2000/svg}"
    bars = [bar for bar in drawn.iter(f"{svg}rect") if float(bar.attrib["y"]) > 20]
    assert [bar.attrib["class"] for bar in bars] == ["ours", "raw"]
    assert all(float(bar.attrib["width"]) > 0 for bar in bars)
    assert "load <→> tools" in [text.text for text in drawn.iter(f"{svg}text")]


def test_only_what_is_between_the_marks_is_replaced():
    page = "a\n<!-- x: made by `make bench` -->\nold\n<!-- end of x -->\nb\n"
    once = between_marks(page, "x", "new")
    assert once == "a\n<!-- x: made by `make bench` -->\n\nnew\n\n<!-- end of x -->\nb\n"
    assert between_marks(once, "x", "new") == once
    with pytest.raises(SystemExit):
        between_marks(page, "y", "new")


def test_cpu_time_is_found_behind_a_name_with_spaces_and_brackets():
    stat = "7 (py) thon (x) S " + " ".join(str(number) for number in range(4, 30))
    assert ticks_in(stat) == 14 + 15


def test_the_steps_are_those_that_most_calls_take():
    notes = [(1_000, "> a"), (3_000, "< a"), (11_000, "> a"), (15_000, "< a"), (21_000, "> b")]
    steps = steps_of([(0, 9_000), (10_000, 19_000), (20_000, 29_000)], notes)
    assert [step for step, _ in steps] == ["> the client sends", "> a", "< a", "< the client has the answer"]
    assert [since for _, since in steps] == [0, 1, 3, 5]


def test_a_look_for_more_to_do_is_no_step():
    notes = [(1_000, f"> {WAITS}"), (2_000, f"< {WAITS}"), (3_000, f"> {WAITS}"), (103_000, f"< {WAITS}")]
    assert [step for step, _ in steps_of([(0, 200_000)], notes)][1:-1] == [f"> {WAITS}", f"< {WAITS}"]


def test_a_phase_whose_end_is_not_there_counts_to_the_next():
    steps = [
        ("> the client sends", 0.0),
        ("< call read", 2.0),
        ("> x", 3.0),
        ("< the client has the answer", 4.0),
    ]
    assert [part for _, part in phases_of(steps)] == [2.0, 7.0]


def test_import_times_are_read_beside_other_lines():
    text = "import time: self [us] | cumulative | imported package\nimport time:  12 |  34 |   trio._core\nA warning.\n"
    assert list(read_imports(text)) == [(12, 34, "trio._core")]


@pytest.mark.parametrize("size", [0, 1, 125, 126, 65535, 65536])
def test_a_masked_frame_says_its_size_and_unmasks_to_its_payload(size: int):
    payload, mask = bytes(number % 251 for number in range(size)), b"\x01\x80\xff\x07"
    sent = frame(1, payload, mask)
    body = sent[len(sent) - size :]
    assert bytes(byte ^ mask[index % 4] for index, byte in enumerate(body)) == payload
    assert sent[: -size or None][-4:] == mask
    assert sent[1] & 0x80


def test_a_channel_puts_messages_together_and_takes_them_apart():
    read_fd, write_fd = os.pipe()
    other_read_fd, other_write_fd = os.pipe()
    channel = Channel(other_write_fd, read_fd, end=b"\n")
    try:
        os.write(write_fd, b"one\ntwo\nth")
        assert channel.receive() == b"one"
        assert channel.receive() == b"two"
        os.write(write_fd, b"ree\n")
        assert channel.receive() == b"three"
        os.close(write_fd)
        with pytest.raises(ChannelEnded):
            channel.receive()
    finally:
        for descriptor in (read_fd, other_read_fd, other_write_fd):
            os.close(descriptor)


def test_a_channel_exchanges_more_than_the_pipes_hold():
    read_fd, write_fd = os.pipe()
    messages = [b"x" * 1000] * 500

    def echo() -> None:
        left = len(messages) * 1001
        while left:
            data = os.read(other_read_fd, 1000)
            left -= len(data)
            os.write(write_fd, data)

    other_read_fd, other_write_fd = os.pipe()
    channel = Channel(other_write_fd, read_fd, end=b"\n")
    thread = threading.Thread(target=echo, daemon=True)
    thread.start()
    assert channel.exchange(messages, len(messages)) == messages
    thread.join()
    for descriptor in (read_fd, write_fd, other_read_fd, other_write_fd):
        os.close(descriptor)
