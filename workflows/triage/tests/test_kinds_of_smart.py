"""Kinds of SMART reports in text that people paste and that were once misread: each in our own words, in the shape that the kind has."""

from __future__ import annotations

import pytest

from workflows.triage import json_answer, triage

HEAD = """smartctl 7.3 2022-02-28 r5338 [x86_64-linux] (local build)

=== START OF INFORMATION SECTION ===
Device Model:     ACME SC900 SATA 512GB
Serial Number:    AJ00N11112222
Rotation Rate:    Solid State Device
SMART support is: Enabled

=== START OF READ SMART DATA SECTION ===
SMART overall-health self-assessment test result: PASSED

"""
WEAR = """ID# ATTRIBUTE_NAME          FLAGS    VALUE WORST THRESH FAIL RAW_VALUE
  9 Power_On_Hours          -O--CK   100   100   000    -    6223
233 Media_Wearout_Indicator -O--CK   002   001   000    -    99
"""
USED = "0x07  0x008  1             {used:>3}  ---  Percentage Used Endurance Indicator\n"
HEAT = "Current Temperature:                    41 Celsius\nSpecified Max Operating Temperature:    40 Celsius\n"


def slugs(text: str) -> list[str]:
    answer = json_answer.answer(triage([("paste.txt", text)]))
    assert [one["outcome"] for one in answer["texts"]] == ["read"]
    return [one["slug"] for one in answer["situations"]]


def test_what_the_standard_says_of_wear_counts_before_the_row_of_the_maker():
    assert slugs(HEAD + WEAR) == ["disk-worn"]
    assert slugs(HEAD + WEAR + USED.format(used=0)) == []
    assert slugs(HEAD + WEAR + USED.format(used=97)) == ["disk-worn"]


def test_a_field_of_wear_that_was_never_filled_in_wears_no_disk():
    worn = WEAR.replace("002   001", "088   088")
    assert slugs(HEAD + worn + USED.format(used=255)) == []
    assert slugs(HEAD + worn + USED.format(used=254)) == ["disk-worn"]
    assert slugs(HEAD + WEAR + USED.format(used=255)) == ["disk-worn"]


def test_a_zero_is_no_wear_where_every_value_of_the_table_is_zero():
    none = WEAR.replace("002   001", "000   000")
    assert slugs(HEAD + none) == ["disk-worn"]
    assert slugs(HEAD + none + "181 Program_Fail_Cnt_Total  -O--CK   000   000   000    -    0\n") == []
    assert slugs(HEAD + none + "181 Program_Fail_Cnt_Total  -O--CK   100   100   000    -    0\n") == ["disk-worn"]


@pytest.mark.parametrize(
    "more",
    [
        "Min/Max recommended Temperature:     15/55 Celsius\n",
        "0x05  0x058  1              55  ---  Specified Maximum Operating Temperature\n",
    ],
)
def test_of_several_limits_of_heat_the_highest_is_the_most_it_may_have(more):
    assert slugs(HEAD + HEAT) == ["disk-hot"]
    assert slugs(HEAD + HEAT + more) == []
    assert slugs(HEAD + HEAT.replace("41", "56") + more) == ["disk-hot"]
