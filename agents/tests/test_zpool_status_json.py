import json

import pytest

from agents.collectors import zpool_status, zpool_status_json
from agents.collectors.base import Unparsed
from agents.collectors.zpool_status_json import parse
from agents.tests.scenarios import root, step, texts
from twin.captured_host import CapturedHost

GENUINE = texts("zpool-status-j-json-int.txt")


def rows(vdev, depth=0):
    yield depth, vdev
    for child in vdev.children:
        yield from rows(child, depth + 1)


@pytest.mark.parametrize(("name", "text"), GENUINE, ids=[name for name, _ in GENUINE])
def test_it_says_what_the_text_of_the_same_moment_says(name, text):
    pools = parse(text)
    plain = zpool_status.parse((root() / name).with_name("zpool-status-P.txt").read_text())
    assert not isinstance(pools, Unparsed), pools
    assert len(pools) == len(plain)
    for a, b in zip(pools, plain):
        assert (a.name, a.state, a.status, a.action, a.see, a.errors) == (b.name, b.state, b.status, b.action, b.see, b.errors)
        assert [(s.function, s.state, s.percent, s.errors) for s in a.scans] == [
            (s.function, s.state, s.percent, s.errors) for s in b.scans
        ]
        for (depth_a, x), (depth_b, y) in zip(rows(a.vdevs), rows(b.vdevs)):
            assert (depth_a, x.name, x.errors, x.note) == (depth_b, y.name, y.errors, y.note)
            assert x.state == y.state or (x.was and (x.state, y.state) == ("UNAVAIL", "FAULTED"))  # JSON hides why an absent leaf is closed
        assert {heading: [v.name for v in vs] for heading, vs in a.sections} == {
            heading: [v.name for v in vs] for heading, vs in b.sections
        }


def test_it_says_the_guid_of_the_pool_to_the_last_digit():
    (pool,) = parse((step("wwid-drift-zfs2.3/4-import-d-dev") / "zpool-status-j-json-int.txt").read_text())
    assert pool.guid == 4997866828225337252


GOOD = (step("healthy-mixed-zfs2.3") / "zpool-status-j-json-int.txt").read_text()


def changed(change) -> str:
    answer = json.loads(GOOD)
    change(next(iter(answer["pools"].values())))
    return json.dumps(answer)


@pytest.mark.parametrize(
    "change",
    [
        lambda pool: pool.pop("vdevs"),
        lambda pool: pool.pop("error_count"),
        lambda pool: pool.update(state="FINE"),
        lambda pool: pool.update(pool_guid=4997866828225337252.0),
        lambda pool: pool.update(pool_guid="1.2K"),
        lambda pool: pool["vdevs"].update(second=pool["vdevs"]["tank"]),
        lambda pool: pool["vdevs"]["tank"].update(read_errors="1.2K"),
        lambda pool: pool["vdevs"]["tank"].update(read_errors=-1),
        lambda pool: pool["vdevs"]["tank"].update(vdevs=[1]),
        lambda pool: pool.update(scan_stats={"function": "SCRUB", "state": "DANCING"}),
    ],
)
def test_it_refuses_what_it_would_have_to_guess(change):
    assert isinstance(parse(changed(change)), Unparsed)


@pytest.mark.parametrize("text", ["", "[]", "null", '{"pools": 7}', '{"pools": {}, "pools": {}}', "[" * 100_000, '{"pools":' * 5_000])
def test_it_refuses_what_is_no_status(text):
    assert isinstance(parse(text), Unparsed)


def test_a_name_that_occurs_twice_is_refused():
    """The tool writes by name, so of two vdevs with one name it would keep one; a text that has both is none of its own."""
    assert isinstance(parse(GOOD.replace('"mirror-1":', '"mirror-0":', 1)), Unparsed)


def test_it_asks_only_versions_that_have_it():
    assert zpool_status_json.collect(CapturedHost(step("healthy-raidz2")))[0].outcome == "nothing"
    assert zpool_status_json.collect(CapturedHost(step("healthy-raidz2-zfs2.3")))[0].outcome == "data"
