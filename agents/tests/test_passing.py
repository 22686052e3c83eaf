"""What of a text passes by itself: progress does, states and counters do not."""

from __future__ import annotations

import json
import re

import pytest

from agents.collectors import COLLECTORS
from agents.collectors._passing import json_without_progress, without_progress
from agents.tests.scenarios import STEPS, step
from twin import demo
from twin.host import TwinHost

RUNNING = sorted(
    (name, path.name)
    for name in STEPS
    for path in step(name).glob("zpool-status-*.txt")
    if "in progress since" in path.read_text(encoding="utf-8", errors="replace")
)


@pytest.fixture(scope="module")
def resilvering(tmp_path_factory):
    """oss02 of the demo at two moments a minute apart."""
    folder = tmp_path_factory.mktemp("twins")
    demo.make(folder, 1795248315.0)
    return [TwinHost(demo.state_path(folder, "oss02"), clock=lambda at=at: 1795248315.0 + at) for at in (0.0, 60.0)]


@pytest.mark.parametrize(("name", "file"), RUNNING, ids=lambda value: value)
def test_it_keeps_all_of_a_genuine_text_but_the_progress(name, file):
    text = (step(name) / file).read_text(encoding="utf-8")
    kept = without_progress(text)
    assert not re.search(r"% done|to go|scanned", kept)
    assert "in progress since" in kept
    assert kept[kept.index("config:") :] == text[text.index("config:") :]


@pytest.mark.parametrize("source", ["zpool_status", "zpool_status_guid", "zpool_status_json"])
def test_what_a_resilver_moves_is_not_lasting(source, resilvering):
    module = COLLECTORS[source]
    before, after = (module.collect(host)[0].text for host in resilvering)
    assert (before != after, module.lasting(before) == module.lasting(after)) == (True, True)


@pytest.mark.parametrize("source", ["zpool_status", "zpool_status_guid"])
@pytest.mark.parametrize(("was", "now"), [("ONLINE", "FAULTED"), ("     0     0     0", "     3     0     0"), ("resilver in", "scrub in")])
def test_what_an_operator_would_ask_about_is(source, resilvering, was, now):
    module = COLLECTORS[source]
    text = module.collect(resilvering[0])[0].text
    assert was in text
    assert module.lasting(text) != module.lasting(text.replace(was, now, 1))


def test_the_end_of_a_resilver_is_lasting(resilvering):
    text = COLLECTORS["zpool_status_json"].collect(resilvering[0])[0].text
    assert json_without_progress(text) != json_without_progress(text.replace("SCANNING", "FINISHED"))


@pytest.mark.parametrize("text", ["", "{", "[1]", "null", json.dumps({"scan_stats": 7})])
def test_no_text_makes_it_raise(text):
    json_without_progress(text)
    without_progress(text)
