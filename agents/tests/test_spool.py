"""Reports kept for a portal that is away: bounded, oldest dropped, and nothing lost without being counted."""

from __future__ import annotations

import errno
import random

import pytest

from agents.collectors.base import Capture
from agents.reporting.spool import Spool
from agents.reporting.stored_capture import Kept


def kept(text, key=""):
    return Kept(Capture("block", key, "data", text), 0.0)


def report(at, *captures):
    return {"taken_at": at, "captures": [{"source": c.source, "key": c.key, "digest": c.digest} for c in captures]}


def add(spool, at, *captures):
    spool.add(report(at, *captures), {c.digest: c for c in captures})


def sent(spool):
    """Every report in the order in which it would be sent: when, and which texts came with it."""
    found = []
    while (oldest := spool.oldest()) is not None:
        found.append((oldest[1]["taken_at"], sorted(body["text"] for _, body in spool.texts(oldest[0]))))
        spool.done(oldest[0])
    return found


def noise(n):
    """A text that does not compress."""
    return random.Random(n).randbytes(3000).hex()


def test_it_keeps_reports_in_order_and_each_text_once(tmp_path):
    spool, same = Spool(tmp_path), kept("same", "a")
    add(spool, "1", same, kept("one"))
    add(spool, "2", same, kept("two"))
    add(spool, "3", same, kept("three"))
    assert sent(spool) == [("1", ["one", "same"]), ("2", ["two"]), ("3", ["three"])]
    assert (len(spool), spool.dropped()) == (0, "")


def test_it_outlives_the_agent(tmp_path):
    add(Spool(tmp_path), "1", kept("one"))
    spool = Spool(tmp_path)
    add(spool, "2", kept("one"))
    assert sent(spool) == [("1", ["one"]), ("2", ["one"])]


def test_the_oldest_goes_first_and_leaves_what_the_next_one_needs(tmp_path):
    spool, same = Spool(tmp_path, 14_000), kept(noise(0), "a")
    for n in range(1, 10):
        add(spool, f"{n}", same, kept(noise(n)))
    assert spool.size_bytes <= 14_000
    lost = 9 - len(spool)
    assert spool.dropped().startswith(f"reports lost: {lost}, taken from 1 to {lost}. ")
    left = sent(spool)
    assert [at for at, _ in left] == [f"{n}" for n in range(lost + 1, 10)]
    assert noise(0) in left[0][1]
    spool.forget_dropped()
    assert spool.dropped() == ""


def test_a_report_larger_than_the_spool_is_counted(tmp_path):
    spool = Spool(tmp_path, 1000)
    add(spool, "1", kept(noise(1)))
    assert len(spool) == 0
    assert spool.dropped().startswith("reports lost: 1, taken from 1 to 1. ")


def test_a_torn_file_is_dropped_and_counted(tmp_path):
    spool = Spool(tmp_path)
    add(spool, "1", kept("one"))
    add(spool, "2", kept("two"))
    first = min(tmp_path.glob("*.gz"))
    first.write_bytes(first.read_bytes()[:20])
    assert [at for at, _ in sent(Spool(tmp_path))] == ["2"]
    assert Spool(tmp_path).dropped().startswith("reports lost: 1. ")


@pytest.mark.parametrize("fits_after", [1, 99])
def test_a_full_disk_costs_the_oldest_and_never_the_agent(tmp_path, monkeypatch, fits_after):
    spool = Spool(tmp_path)
    for n in range(3):
        add(spool, f"{n}", kept(f"{n}"))
    real, failures = spool._write, []

    def write(name, report, texts):
        failures.append(1)
        if len(failures) <= fits_after:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(name, report, texts)

    monkeypatch.setattr(spool, "_write", write)
    add(spool, "3", kept("3"))
    monkeypatch.undo()
    assert [at for at, _ in sent(spool)][-1:] == (["3"] if fits_after == 1 else [])
    assert ("lost: 1, taken from 0" if fits_after == 1 else "lost: 4, taken from 0") in spool.dropped()
