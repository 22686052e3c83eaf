"""The clock: what may be over, what may not have begun, and when no time is to be trusted."""

from __future__ import annotations

import pytest

from agents.domain.times import iso
from agents.trust.clock import AGREE_SECONDS, PORTAL_TIME_SECONDS_MAX, Clock, boottime


class Times:
    """A node's wall and steady clocks, and a portal's."""

    def __init__(self, wall=1_000_000.0, portal=1_000_000.0):
        self.wall, self.steady, self.portal = wall, 500.0, portal
        self.clock = Clock(lambda: self.wall, lambda: self.steady)

    def passes(self, seconds):
        self.wall += seconds
        self.steady += seconds
        self.portal += seconds

    def answer(self, took=0.0):
        """The portal says the time at once, and its answer is under way for `took` seconds."""
        begun, portal_time = self.clock.begun(), iso(self.portal)
        self.passes(took)
        self.clock.take_portal_time(portal_time, begun)


def test_it_trusts_clocks_that_agree():
    times = Times()
    times.answer(took=2.0)
    times.passes(100.0)
    assert times.clock.doubt() == ""


def test_before_the_portal_said_the_time_nothing_is_trusted():
    times = Times()
    assert "has not sent the time yet" in times.clock.doubt()
    times.answer()
    assert times.clock.doubt() == ""


@pytest.mark.parametrize("jump", [-3600.0, -6.0, 6.0, 3600.0])
def test_a_jump_refuses_until_the_portal_agrees(jump):
    times = Times()
    times.answer()
    times.passes(10.0)
    times.wall += jump
    times.passes(10.0)
    assert "jumped" in times.clock.doubt()
    times.passes(100.0)
    assert "jumped" in times.clock.doubt()
    times.answer()
    assert ("" if abs(jump) < AGREE_SECONDS else "jumped") in times.clock.doubt()
    times.wall -= jump  # set right again: that is a jump too, and the portal agrees
    times.answer()
    assert times.clock.doubt() == ""


def test_slewing_is_no_jump():
    times = Times()
    times.answer()
    for _ in range(25):
        times.passes(10.0)
        times.wall += 0.5
        assert times.clock.doubt() == ""


@pytest.mark.parametrize(("off", "word"), [(AGREE_SECONDS + 1, "ahead of"), (-AGREE_SECONDS - 1, "behind")])
def test_clocks_apart_refuse_and_say_which_way(off, word):
    times = Times(wall=1_000_000.0 + off)
    times.answer()
    assert word in times.clock.doubt()
    assert "chrony" in times.clock.doubt()


def test_a_word_too_old_refuses():
    times = Times()
    times.answer()
    times.passes(PORTAL_TIME_SECONDS_MAX + 1)
    assert "last sent the time" in times.clock.doubt()


def test_it_errs_towards_over_and_towards_not_begun():
    """The portal's answer took 20 s: its clock may have stood so when the answer left, or when it came."""
    times = Times(wall=1_000_000.0, portal=1_000_010.0)
    times.answer(took=20.0)
    assert times.clock.earliest() == 1_000_010.0  # as long as it was under way, and the portal's time stood still
    assert times.clock.latest() == 1_000_030.0
    times.passes(5.0)
    assert (times.clock.earliest(), times.clock.latest()) == (1_000_015.0, 1_000_035.0)


def test_a_clock_set_back_makes_nothing_young_again():
    times = Times()
    times.answer()
    times.passes(100.0)
    times.wall -= 3600.0
    assert times.clock.latest() == 1_000_100.0


@pytest.mark.parametrize("at", [None, 7, "", "soon", "2026-11-21T03:00:00"])
def test_what_is_no_time_is_not_heard(at):
    times = Times()
    times.clock.take_portal_time(at, 0.0)
    assert "has not sent" in times.clock.doubt()


def test_without_a_steady_clock_the_wall_is_believed():
    clock = Clock(lambda: 7.0)
    clock.take_portal_time("2026-11-21T03:00:00Z", clock.begun())
    clock.wait_for_portal_time(100.0)
    assert (clock.doubt(), clock.earliest(), clock.latest()) == ("", 7.0, 7.0)


def test_the_steady_clock_of_this_machine_runs():
    first = boottime()
    assert 0.0 < first <= boottime()
