"""How long reads wait, by two samples of a histogram that only grows."""

from __future__ import annotations

import pytest

from agents.collectors.zpool_iostat_w import BUCKETS
from workflows.analysis import read_tail
from workflows.analysis.read_tail import Sample, between, read
from workflows.facts import known
from workflows.runbooks.scrub_due import measured
from workflows.tests.incident import PARAMS, fleet

MS8, MS67 = 22, 25  # the buckets that end at 8.4 and 67 ms


def sample(at, **counts):
    row = [0] * BUCKETS
    for bucket, count in counts.items():
        row[int(bucket[1:])] = count
    return Sample(at, tuple(row))


OLD = sample(0, b30=5000)  # what was counted long before


def later(at, **counts):
    return sample(at, b30=5000, **counts)


def test_what_was_counted_before_the_first_look_does_not_count():
    tail = between(OLD, later(600, b22=990, b25=10))
    assert (tail.p50_ns, tail.p99_ns, tail.reads, tail.seconds) == (2**23 - 1, 2**23 - 1, 1000, 600)


def test_a_percentile_is_the_bound_of_the_bucket_that_holds_it():
    tail = between(OLD, later(600, b22=980, b25=20))
    assert (tail.p50_ns, tail.p99_ns) == (2**23 - 1, 2**26 - 1)
    assert tail.words == "99 of 100 reads waited at most 67 ms, half of them at most 8.4 ms (1000 reads in 10 min)"


def test_what_waited_longer_than_the_last_bucket_is_said_to():
    assert "137.4 s, or longer" in between(OLD, later(600, b36=1000)).words


@pytest.mark.parametrize(
    ("first", "last", "why"),
    [
        (later(0, b22=500), later(600, b22=400), "imported anew"),
        (OLD, later(600, b22=99), "too few for a percentile"),
        (later(0, b22=500), later(0, b22=900), "second look"),
        (read(""), later(600, b22=500), "No sample"),
    ],
)
def test_where_it_cannot_be_told_it_is_not_known(first, last, why):
    tail = between(first, last)
    assert not known(tail)
    assert why in tail.reason


def test_a_sample_is_carried_by_a_run_as_it_was_taken():
    assert read(later(600, b22=7).text) == later(600, b22=7)
    for bad in ("", "5", "5:1,2", "x:" + ",".join("0" * BUCKETS)):
        assert not known(read(bad))


def shown(before, now):
    params = {"reads_first": OLD.text, "reads_before": before.text, "reads_began": OLD.text, "reads_now": now.text}
    return " ".join(measured.how_it_goes(fleet(), {**PARAMS, **params}).lines)


def test_what_people_feel_is_said_with_the_way_to_pause_it():
    lines = shown(later(600, b22=1000), later(600, b25=1000))
    assert "Before the scrub, 99 of 100 reads waited at most 8.4 ms" in lines
    assert "During the scrub, 99 of 100 reads waited at most 67 ms" in lines
    assert "End this run to pause the scrub" in lines
    assert "upper bound of a bucket" in lines


def test_what_nobody_feels_advises_nothing():
    assert "End this run" not in shown(later(600, b22=1000), later(600, b23=1000))


def test_the_source_is_the_queue_of_synchronous_reads():
    assert (read_tail.SOURCE, read_tail.KIND) == ("zpool_iostat_w", "syncq_read")
