"""What is in use is looked through once, and now and then again; garbage goes."""

import gc
from itertools import count

import pytest

from app.core import gc_tuning


class Cycle:
    gone = 0

    def __init__(self):
        self.itself = self

    def __del__(self):
        Cycle.gone += 1


@pytest.fixture(autouse=True)
def _settled(monkeypatch):
    monkeypatch.setattr(gc_tuning, "_looks", count(1))
    monkeypatch.setattr(Cycle, "gone", 0)
    thresholds, callbacks = gc.get_threshold(), list(gc.callbacks)
    gc_tuning.settle()
    gc.disable()  # no look but those of the test
    yield
    gc.enable()
    gc.callbacks[:] = callbacks
    gc.set_threshold(*thresholds)
    gc.unfreeze()
    gc.collect()


def test_what_a_look_through_everything_finds_in_use_is_set_aside():
    before, held = gc.get_freeze_count(), [Cycle() for _ in range(1000)]
    gc.collect()
    assert gc.get_freeze_count() >= before + len(held)
    assert Cycle.gone == 0


def test_garbage_that_is_young_goes_at_once():
    Cycle()
    gc.collect()
    assert Cycle.gone == 1


def test_what_became_garbage_after_it_was_set_aside_goes_when_everything_is_looked_through():
    held = Cycle()
    gc.collect()
    del held
    for _ in range(gc_tuning.EVERYTHING_EVERY - 2):
        gc.collect()
    assert Cycle.gone == 0
    gc.collect()
    assert Cycle.gone == 1


def test_a_look_at_the_young_sets_nothing_aside():
    before = gc.get_freeze_count()
    gc.collect(1)
    assert gc.get_freeze_count() <= before  # fewer when something that was set aside is freed meanwhile
