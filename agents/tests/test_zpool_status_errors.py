"""The list of damaged data: genuine texts, names that look like anything, and lists that are too long or not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.collectors import zpool_status_errors as collector
from agents.collectors.base import Unparsed
from agents.collectors.zpool_status_errors import INDENT, KEPT, LIST, ErrorList
from agents.host.host import Ran
from agents.tests.scenarios import step
from twin.captured_host import CapturedHost

HEAD = "  pool: tank\n state: ONLINE\nconfig:\n\n\tNAME  STATE\n\ttank  ONLINE\n\n"


class Prints:
    """A node with one pool, whose `zpool status -v` prints this."""

    def __init__(self, text: str, state: str = "ONLINE") -> None:
        self.text, self.state = text, state

    def run(self, argv, timeout_seconds):
        return Ran(tuple(argv), 0, self.text.encode(), b"", 0.0)

    def read(self, path):
        return f"{self.state}\n".encode()

    def list(self, pattern):
        return (pattern.replace("*", "tank"),)


def collected(text: str) -> ErrorList | Unparsed:
    (capture,) = collector.collect(Prints(text))
    assert capture.outcome == "data"
    return collector.parse(capture.text)


def listed(*entries: str) -> str:
    return f"{HEAD}{LIST}\n\n{''.join(f'{INDENT}{entry}{chr(10)}' for entry in entries)}"


def test_it_reads_a_genuine_list():
    (capture,) = collector.collect(CapturedHost(step("permanent-errors-files/1-files")))
    assert collector.parse(capture.text) == ErrorList("ost_15", ("/mnt/oss/with space",))


def test_it_reads_a_genuine_text_without_errors():
    assert collected((step("permanent-errors-files/3-scrubbed") / "zpool-status-v.txt").read_text()) == ErrorList("ost_15", ())


@pytest.mark.parametrize(
    "entry",
    [
        "/tank/a b",
        "tank/oss@daily:/x",
        "tank/oss:<0x1f>",
        "<metadata>:<0x1f>",
        "/tank/errors: none",
        "/tank/two\nlines",
        "/tank/  indented",
        "/(3 more)",
    ],
)
def test_an_entry_is_kept_as_it_was_printed(entry):
    assert collected(listed(entry, "/tank/other")) == ErrorList("tank", (entry, "/tank/other"))
    assert collected(listed("/tank/other", entry)) == ErrorList("tank", ("/tank/other", entry))


def test_of_a_long_list_the_rest_is_counted():
    found = collected(listed(*(f"/tank/{number}" for number in range(KEPT + 7))))
    assert (len(found.entries), found.left_out, found.entries[-1]) == (KEPT, 7, f"/tank/{KEPT - 1}")


def test_what_changes_elsewhere_in_the_text_changes_nothing_here():
    one, two = (collector.collect(Prints(listed("/tank/a").replace("ONLINE", state)))[0] for state in ("ONLINE", "DEGRADED"))
    assert one.text == two.text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no pools available\n",
        HEAD,
        f"{HEAD}errors: 3 data errors, use '-v' for a list\n",
        f"{HEAD}{LIST}\n\n",
        f"{HEAD}errors: List of errors unavailable: pool I/O is currently suspended\n",
    ],
)
def test_a_list_that_is_not_there_is_not_an_empty_one(text):
    assert isinstance(collected(text), Unparsed)


def test_a_suspended_pool_is_not_asked():
    (capture,) = collector.collect(Prints(listed("/tank/a"), state="SUSPENDED"))
    assert capture.outcome == "failed"
    assert "could hang" in capture.reason


@pytest.mark.parametrize(("name", "entry"), [("a-file", "/one/data/f"), ("in-a-snapshot", "one/data@monday:/f")])
def test_it_reads_what_was_damaged_on_a_real_disk(name, entry):
    text = (Path(__file__).parent / "captures" / "zpool_status_errors" / f"zpool-status-v-2.1.11--{name}.txt").read_text()
    assert collected(text) == ErrorList("one", (entry,))
    assert collector.snapshots((entry,)) == (("one/data@monday",) if "@" in entry else ())
