"""The OpenZFS release a node runs. What each does is in `agents/zfs_releases.py`."""

from __future__ import annotations

from agents.zfs_releases import numbers, words
from workflows.facts.unknown import Known, Unknown, known


def release(version: Known[str]) -> Known[str]:
    """The upstream part: "zfs-kmod-2.1.11-1+deb12u1" -> "2.1.11". Packages of one release are built apart."""
    found = release_numbers(version)
    return words(found) if known(found) else found


def release_numbers(version: Known[str]) -> Known[tuple[int, ...]]:
    """(2, 1, 11) of "2.1.11-1+deb12u1"."""
    if not known(version):
        return version
    return numbers(version) or Unknown(f"{version!r} is no version")
