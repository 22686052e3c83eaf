"""One output among pasted lines, as far as it was read."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from workflows.triage.fields import KEY

SECTION = re.compile(r"=== START OF (?:INFORMATION|READ SMART DATA|SMART DATA) SECTION ===|SMART Health Status: |SMART overall-health")
_LABELS_NAMED = re.compile(r"LABEL ([0-3])|failed to \w{1,20} label ([0-3])$| +labels = ([0-3 ]*)$")


@dataclass
class Piece:
    """Consecutive lines of one output. `first` counts from 1."""

    source: str  # "" for lines that are no output we know
    first: int
    lines: list[str] = field(default_factory=list)
    key: str = ""
    node: str = ""
    command: str = ""
    path: str = ""  # the file whose lines these are, where they do not say it themselves
    question: str = ""  # what was asked, where they cannot be read without it
    hint: str = ""
    heading: str = ""  # the last "pool:", "config:", "errors:" ... seen
    sure: bool = False  # whether a line of it begins an output of its source
    begun: bool = False  # whether it has a line that is not empty
    closed: bool = False  # whether the brace that ends a JSON text stands there
    pools: set[str] = field(default_factory=set)  # the lines that name a pool, or say that there is none
    sections: set[str] = field(default_factory=set)  # of a report of smartctl: the beginnings of those that it has
    labels: set[str] = field(default_factory=set)  # which of a disk's four were told of

    def add(self, line: str) -> None:
        """One more line. What is asked of every line later is kept here, so that a long output is not read again for each."""
        self.lines.append(line)
        self.begun = self.begun or bool(line)
        self.closed = self.closed or line == "}"
        found = KEY.match(line)
        self.heading = found.group(1) if found else self.heading
        if self.source.startswith(("zpool_", "zdb_")) and line.strip().startswith(("pool: ", "no pools")):
            self.pools.add(line.strip())
        if self.source == "smart" and (section := SECTION.match(line)):
            self.sections.add(section.group())
        if self.source == "zdb_label":
            match = _LABELS_NAMED.match(line)
            self.labels |= set("".join(match.groups(""))) & set("0123") if match else set()

    @property
    def last(self) -> int:
        return self.first + max(len(self.lines), 1) - 1
