"""zfs_get: what is asked by release, what is read, what is cut short, and what is not understood."""

from __future__ import annotations

import pytest

from agents.collectors import zfs_get as collector
from agents.collectors.base import Unparsed
from agents.host.host import Ran

ROWS = (
    "tank\tkeystatus\tunavailable\ntank\tkeylocation\tprompt\ntank\tencryptionroot\ttank\ntank\tmountpoint\t/a b\n"
    "tank/ost 0\tlustre:svname\tdemo-OST0000\n"
)


class Prints:
    """A node with one pool, whose `zfs get` prints this."""

    def __init__(self, text: str, state: str = "ONLINE", release: str = "2.1.11-1") -> None:
        self.text, self.state, self.release, self.asked = text, state, release, ()

    def run(self, argv, timeout_seconds):
        self.asked = tuple(argv)
        return Ran(self.asked, 0, self.text.encode(), b"", 0.0)

    def read(self, path):
        return f"{self.release if path == '/sys/module/zfs/version' else self.state}\n".encode()

    def list(self, pattern):
        return (pattern.replace("*", "tank"),)


def test_it_reads_names_and_values_with_blanks():
    (capture,) = collector.collect(Prints(ROWS))
    read = collector.parse(capture.text)
    assert read.values["tank"] == {"keystatus": "unavailable", "keylocation": "prompt", "encryptionroot": "tank", "mountpoint": "/a b"}
    assert read.values["tank/ost 0"] == {"lustre:svname": "demo-OST0000"}
    assert read.left_out == 0


@pytest.mark.parametrize(("release", "asks"), [("0.7.13-1", False), ("0.8.0-1", True), ("2.4.0-1", True)])
def test_a_release_without_encryption_is_not_asked_for_it(release, asks):
    host = Prints(ROWS, release=release)
    collector.collect(host)
    assert ("keystatus" in host.asked[-2]) == asks
    assert "lustre:svname" in host.asked[-2]


def test_a_pool_that_is_suspended_is_not_asked():
    host = Prints(ROWS, state="SUSPENDED")
    (capture,) = collector.collect(host)
    assert (capture.outcome, host.asked) == ("failed", ())


def test_of_very_many_datasets_the_rest_is_counted(monkeypatch):
    monkeypatch.setattr(collector, "KEPT", 2)
    (capture,) = collector.collect(Prints(ROWS))
    assert collector.parse(capture.text).left_out == 3


@pytest.mark.parametrize(
    "text", ["", "tank\tmounted\n", "tank mounted no\n", "tank\tmounted\tno\ntank\tmounted\tyes\n", "tank\tmounted\tno"]
)
def test_what_is_not_understood_is_not_guessed(text):
    assert isinstance(collector.parse(text), Unparsed)
