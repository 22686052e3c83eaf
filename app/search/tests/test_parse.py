"""Every way the same thing is written asks for the same thing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.search.find import FINDERS
from app.search.parse import TEXT_MAX, Question, parse

WWID = Question("wwid", "naa:5000c500a65b207b")


@pytest.mark.parametrize(
    "text",
    [
        "naa:5000c500a65b207b",
        "naa.5000c500a65b207b",
        "NAA.5000C500A65B207B",
        "0x5000c500a65b207b",
        "0X5000C500A65B207B",
        "wwn-0x5000c500a65b207b",
        "wwn-0x5000c500a65b207b-part1",
        "/dev/disk/by-id/wwn-0x5000c500a65b207b-part1",
        "scsi-35000c500a65b207b",
        "35000c500a65b207b",
        "5000c500a65b207b",
        "  5000C500A65B207B ",
        "50:00:c5:00:a6:5b:20:7b",
        "5000 c500 a65b 207b",
    ],
)
def test_a_wwid_in_any_form_is_that_wwid(text):
    assert WWID in parse(text)


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("oss01 sdcw", Question("kernel", "sdcw", "oss01")),
        ("oss01:sdcw", Question("kernel", "sdcw", "oss01")),
        ("oss01:/dev/sdcw1", Question("kernel", "sdcw", "oss01")),
        ("sdcw", Question("kernel", "sdcw")),
        ("/dev/sdcw1", Question("kernel", "sdcw")),
        ("oss01 nvme0n1p1", Question("kernel", "nvme0n1", "oss01")),
        ("[6:0:176:0]", Question("hctl", "6:0:176:0")),
        ("oss01 6:0:176:0", Question("hctl", "6:0:176:0", "oss01")),
        ("oss01 bay 12", Question("bay", "12", "oss01")),
        ("oss01 Slot 012", Question("bay", "12", "oss01")),
        ("0x50050CC11AC016E2/68", Question("bay", "68", enclosure="0x50050cc11ac016e2")),
        ("0x50050cc11ac016e2 slot 68", Question("bay", "68", enclosure="0x50050cc11ac016e2")),
        ("7602440441426092393", Question("guid", "7602440441426092393")),
        ("0x69814f3a1b2c3d4e", Question("guid", str(0x69814F3A1B2C3D4E))),
        ("69814f3a1b2c3d4e", Question("guid", str(0x69814F3A1B2C3D4E))),
        ("0x5000c500a65b2079", Question("port", "0x5000c500a65b2079")),
        ("ost_0", Question("pool", "ost_0")),
        ("oss01 ost_0", Question("pool", "ost_0", "oss01")),
        ("oss01", Question("node", "oss01")),
        ("S/N: ZA2B0176", Question("serial", "ZA2B0176")),
        ("b207", Question("part", "b207")),
        ("4412", Question("guid-part", "4412")),
        ("7602440441426092393", Question("guid-part", "7602440441426092393")),
        ("wwn-0x5000c500a6", Question("part", "5000c500a6")),
        ("run 12", Question("run", "12")),
        ("Run #12", Question("run", "12")),
        ("12", Question("situation", "12")),
        ("situation 7", Question("situation", "7")),
        ("disk missing", Question("words", "disk missing")),
    ],
)
def test_a_text_asks_for_what_it_names(text, question):
    assert question in parse(text)


@pytest.mark.parametrize("text", ["", "   ", "\n"])
def test_nothing_asks_nothing(text):
    assert parse(text) == ()


@pytest.mark.parametrize("text", ["a65", "x", "441"])
def test_what_is_too_short_is_no_part_of_anything(text):
    assert not [question for question in parse(text) if question.kind in ("part", "guid-part")]


@given(st.text(max_size=300))
def test_any_text_is_some_questions_that_can_be_asked(text):
    for question in parse(text):
        assert question.kind in FINDERS
        assert 0 < len(question.value) <= TEXT_MAX + 4


@pytest.mark.parametrize("text", ["oss01 bay 7", "0x50050cc11ac016e2/7", "oss01 [6:0:176:0]"])
def test_a_place_on_one_node_is_asked_for_once(text):
    assert [question.kind for question in parse(text)] in (["bay"], ["hctl"])


def test_digits_too_few_for_a_guid_are_looked_for_as_a_part_alone():
    assert {question.kind for question in parse("245073")} & {"guid", "guid-part"} == {"guid-part"}
