"""The hostid that ZFS writes into labels, from the three places it may come from. A node whose hostid moved looks foreign to its pools."""

from __future__ import annotations

from dataclasses import dataclass

from agents.collectors import node as node_source
from workflows.facts.read.sources import Sources
from workflows.facts.unknown import Known, Unknown, known

NONE = "00000000"


@dataclass(frozen=True)
class HostidFacts:
    """Eight hexadecimal digits each. None: there is no such file, or the command gave none."""

    command: str | None  # by the command `hostid`
    file: str | None  # /etc/hostid
    parameter: str | None  # spl_hostid; all zeros means that the module asks the file
    booted_at: int | None  # Unix time, seconds

    @property
    def used(self) -> Known[str]:
        """What the module uses: its parameter, else the file; without a file it uses none."""
        if self.parameter is None:
            return Unknown("The module does not say which hostid it was given.")
        if self.parameter != NONE:
            return self.parameter
        return NONE if self.file is None else self.file


def read_hostids(sources: Sources) -> Known[HostidFacts]:
    reading = sources.read(node_source)
    return HostidFacts(reading.hostid, reading.hostid_file, reading.hostid_spl, reading.booted_at) if known(reading) else reading
