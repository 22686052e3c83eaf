"""Reports that could not be sent, on disk and bounded, until the portal answers again.

A file holds one report, a line, and after it the texts that the report before it does not have, a line each; where the oldest must
go, the next one inherits what it needs of it. Losing the last file in a power cut is no harm, so nothing is synced; a torn file is
dropped and counted. Texts pass one by one: all of a big node's texts in memory at once would be too much for a small agent.
"""

from __future__ import annotations

import gzip
import json
import logging
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Optional, Tuple

BYTES_MAX = 64 * 1024 * 1024
TRIES = 8  # how many of the oldest are given up for one that does not fit on a full disk
DROPPED = "dropped.json"
SUFFIX = ".jsonl.gz"
log = logging.getLogger("slotlight.agent")

Report = dict[str, Any]  # a report on the wire, without texts
Text = Tuple[str, Any]  # a digest and the body it names


class Torn(Exception):
    """A file that does not hold what was written."""


class Spool:
    """Belongs to one thread."""

    def __init__(self, folder: str, bytes_max: int = BYTES_MAX) -> None:
        self._folder, self._bytes_max = folder, bytes_max
        os.makedirs(folder, mode=0o700, exist_ok=True)
        self._sizes = {name: os.stat(self._path(name)).st_size for name in sorted(os.listdir(folder)) if name.endswith(SUFFIX)}
        self._last: Optional[Tuple[str, frozenset[str]]] = None  # the newest file, and the digests the next one need not repeat

    def __len__(self) -> int:
        return len(self._sizes)

    @property
    def size_bytes(self) -> int:
        return sum(self._sizes.values())

    def add(self, report: Report, texts: Mapping[str, Any]) -> None:
        """Keep a report. `texts` has something with a `body()` for every digest the portal may not have."""
        before = self._last[1] if self._last is not None and self._last[0] in self._sizes else frozenset()
        name = f"{max([int(name.split('.')[0]) for name in self._sizes], default=0) + 1:012d}{SUFFIX}"
        if self._fit(name, report, {digest: text for digest, text in texts.items() if digest not in before}):
            self._last = (name, frozenset(texts))

    def oldest(self) -> Optional[Tuple[str, Report]]:
        """Its name and the report. Whatever cannot be read is dropped."""
        while self._sizes:
            name = min(self._sizes)
            try:
                return name, self._report(name)
            except Torn as torn:
                log.error("%s", torn)
                self._remove(name)
                self._count("")
        return None

    def texts(self, name: str) -> Iterator[Text]:
        """The texts that came with a report; fewer than there were when the file is torn."""
        try:
            for line in self._lines(name, 1):
                yield line["digest"], line["body"]
        except (Torn, KeyError, TypeError) as torn:
            log.error("%s", torn)

    def done(self, name: str) -> None:
        self._remove(name)

    def lose(self, name: str, taken_at: str) -> None:
        """It cannot be sent, because a part of it is gone."""
        self._remove(name)
        self._count(taken_at)

    def dropped(self) -> str:
        """What was lost, as a sentence; "" when nothing was."""
        lost = self._lost()
        if not lost["count"]:
            return ""
        when = f", taken from {lost['first']} to {lost['last']}" if lost["first"] else ""
        why = f"The portal did not answer for longer than {self._bytes_max} bytes could keep, or the disk was full or damaged."
        return f"reports lost: {lost['count']}{when}. {why}"

    def forget_dropped(self) -> None:
        _unlink([self._path(DROPPED)])

    def _fit(self, name: str, report: Report, texts: Mapping[str, Any]) -> bool:
        """Make room by dropping the oldest; whether it could be kept."""
        size = self._try_to_write(name, report, texts)
        if size is None or size > self._bytes_max:
            _unlink([self._path(name)])
            self._count(report["taken_at"])
            return False
        while self._sizes and self.size_bytes + size > self._bytes_max:
            self._drop()
        self._sizes[name] = size
        return True

    def _try_to_write(self, name: str, report: Report, texts: Mapping[str, Any]) -> Optional[int]:
        for _ in range(TRIES):
            try:
                return self._write(name, report, ((digest, text.body()) for digest, text in texts.items()))
            except OSError as error:
                log.error("the report of %s could not be kept: %s.", report["taken_at"], error)
            if not self._sizes:
                break
            self._drop()
        return None

    def _drop(self) -> None:
        """The oldest goes; what the next one needs of it, the next one gets."""
        names, gone = sorted(self._sizes)[:2], ""
        try:
            gone = self._report(names[0])["taken_at"]
            if len(names) > 1:
                self._inherit(*names)
        except (Torn, OSError) as error:
            log.error("%s", error)
        self._remove(names[0])
        self._count(gone)

    def _inherit(self, name: str, heir: str) -> None:
        report = self._report(heir)
        needed = {item["digest"] for item in report["captures"]}
        new = heir + ".heir"

        def texts() -> Iterator[Text]:
            yield from (text for text in self.texts(name) if text[0] in needed)
            yield from self.texts(heir)

        self._sizes[heir] = self._write(new, report, texts())
        os.replace(self._path(new), self._path(heir))

    def _report(self, name: str) -> Report:
        """Raises Torn."""
        report = next(self._lines(name, 0), None)
        if not isinstance(report, dict) or not {"taken_at", "captures"} <= report.keys():
            raise Torn(f"{self._path(name)} holds no report.")
        return report

    def _lines(self, name: str, first: int) -> Iterator[Any]:
        """Raises Torn."""
        try:
            with gzip.open(self._path(name), "rt", encoding="utf-8") as file:
                for number, line in enumerate(file):
                    if number >= first:
                        yield json.loads(line)
        except (OSError, EOFError, ValueError, zlib.error) as error:
            raise Torn(f"The kept report {self._path(name)} cannot be read: {error}.") from error

    def _write(self, name: str, report: Report, texts: Iterable[Text]) -> int:
        """The whole file or none; how large it is. Raises OSError."""
        new = self._path(name + ".new")
        try:
            with gzip.open(new, "wt", 1, encoding="utf-8") as file:
                file.write(json.dumps(report, separators=(",", ":")) + "\n")
                for digest, body in texts:
                    file.write(json.dumps({"digest": digest, "body": body}, separators=(",", ":")) + "\n")
            os.replace(new, self._path(name))
        except OSError:
            _unlink([new])
            raise
        return os.stat(self._path(name)).st_size

    def _remove(self, name: str) -> None:
        del self._sizes[name]
        _unlink([self._path(name)])

    def _lost(self) -> dict[str, Any]:
        try:
            with open(self._path(DROPPED), encoding="utf-8") as file:
                document = json.load(file)
            return {"count": int(document["count"]), "first": str(document["first"]), "last": str(document["last"])}
        except (OSError, ValueError, KeyError, TypeError):
            return {"count": 0, "first": "", "last": ""}

    def _count(self, taken_at: str) -> None:
        """One report more is lost; `taken_at` is "" when it cannot be read any more."""
        lost = self._lost()
        lost = {"count": lost["count"] + 1, "first": lost["first"] or taken_at, "last": taken_at or lost["last"]}
        try:
            with open(self._path(DROPPED), "w", encoding="utf-8") as file:
                json.dump(lost, file)
        except OSError as error:
            log.error("that a report was lost could not be written down: %s.", error)

    def _path(self, name: str) -> str:
        return os.path.join(self._folder, name)


def _unlink(paths: Iterable[str]) -> None:
    for path in paths:
        try:
            os.unlink(path)
        except FileNotFoundError:
            pass
