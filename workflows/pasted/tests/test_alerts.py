"""Alerts of an appliance, wherever they were copied from; what somebody says of a pool is none."""

from __future__ import annotations

from workflows.triage import triage


def test_an_alert_in_the_list_of_a_program_and_between_quotes_is_read():
    sentence = "Pool ost_7 state is DEGRADED: One or more devices are faulted in response to persistent errors."
    for entry in (
        f'[{{"uuid": "1", "klass": "VolumeStatus", "formatted": "{sentence}"}}]\n',
        f'I got this mail:\n\n"{sentence}"\n\nwhat now?\n',
        f"> {sentence}\n",
    ):
        assert [s.slug for s in triage([("p", entry)]).situations] == ["vdev-degraded"], entry


def test_somebodys_own_words_about_a_pool_are_no_alert():
    sentence = "The pool state is DEGRADED since yesterday, and pool ost_7 state is DEGRADED too I believe\n"
    assert not triage([("p", sentence)]).situations
