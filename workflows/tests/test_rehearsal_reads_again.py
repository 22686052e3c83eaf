"""What a stage shows is of the twin as it stands: each state that a command or a hand made is read, and one that stands still is read once."""

from __future__ import annotations

import gc
import weakref

from twin import scenarios
from workflows.rehearsal.on_twins import TwinStage


def test_the_state_that_was_read_is_kept_so_that_no_later_one_is_taken_for_it():
    """A later state in the same place of memory would have its id."""
    stage = TwinStage({"oss01": scenarios.tiny()}, 1e9)
    store = stage.host("oss01").store
    for serial in ("ZA20001X", "ZA20002X"):
        with store.changing() as node:
            node.disks[0].serial = serial
        assert stage.facts().nodes["oss01"].disks[0].serial == serial
    read = weakref.ref(store.view().node)
    with store.changing() as node:
        node.disks[0].serial = "ZA20003X"
    stage.host("oss01").view()
    del node
    gc.collect()
    assert read() is not None
    assert stage.facts().nodes["oss01"].disks[0].serial == "ZA20003X"


def test_a_state_that_stands_still_is_read_once():
    stage = TwinStage({"oss01": scenarios.tiny()}, 1e9)
    first = stage.facts().nodes["oss01"]
    stage.clock.sleep(30)
    assert stage.facts().nodes["oss01"].disks is first.disks
