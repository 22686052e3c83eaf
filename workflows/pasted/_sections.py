"""Texts of "Name : value" lines that fall into sections, one for each thing they tell of."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from workflows.pasted.base import pairs


@dataclass
class Section:
    """The values of one thing by their names, each with its line. A name that comes twice keeps its first value."""

    title: str
    values: dict[str, str] = field(default_factory=dict)
    lines: dict[str, str] = field(default_factory=dict)

    def first(self, *names: str) -> str | None:
        """The first of these that has a value."""
        return next((self.values[name] for name in names if self.values.get(name)), None)

    def line(self, *names: str) -> str:
        return next((self.lines[name] for name in names if name in self.lines), self.title)


def sections(lines: Sequence[str], begins: str, separator: str = ":") -> Iterator[Section]:
    """A section begins with each line that matches `begins`; what stands before the first is left out."""
    form, now = re.compile(begins), None
    for line in lines:
        if form.match(line.strip()):
            if now is not None:
                yield now
            now = Section(line.strip())
        pair = pairs(line.strip(), separator)
        if now is not None and pair is not None and pair[0] not in now.values:
            now.values[pair[0]], now.lines[pair[0]] = pair[1], line.strip()
    if now is not None:
        yield now
