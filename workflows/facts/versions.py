"""The OpenZFS release a node runs, and which releases our runbooks were tried with."""

from __future__ import annotations

import re

from workflows.facts.model import Known, Unknown, known

TESTED_RELEASES = ("2.1", "2.3")  # what commands do and print differs by release; only these were tried
OLDEST_KNOWN, FIRST_UNKNOWN = (0, 6, 5), (2, 5)  # what we read in the source: tunables, options, what a command means
KNOWN_RELEASES = "0.6.5 to 2.4"


def release(version: Known[str]) -> Known[str]:
    """The upstream part: "zfs-kmod-2.1.11-1+deb12u1" -> "2.1.11". Packages of one release are built apart."""
    if not known(version):
        return version
    match = re.search(r"(?:^|-)v?([0-9]{1,4}\.[0-9]{1,4}\.[0-9]{1,4})", version)
    return match.group(1) if match else Unknown(f"{version!r} is no version")


def release_numbers(version: Known[str]) -> Known[tuple[int, ...]]:
    """(2, 1, 11) of "2.1.11-1+deb12u1"."""
    text = release(version)
    return tuple(int(part) for part in text.split(".")) if known(text) else text


def is_tested(number: str) -> bool:
    return number.startswith(tuple(f"{tested}." for tested in TESTED_RELEASES))


def is_known(number: str) -> bool:
    """Whether we know what this release does, be it from its source only."""
    found = release_numbers(number)
    return known(found) and OLDEST_KNOWN <= found < FIRST_UNKNOWN
