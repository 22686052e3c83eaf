"""Reports that could not be told, on disk and bounded, until the portal answers again.

A file holds one report and the texts that the one before it does not have; where the oldest must go, the next one inherits what
it needs of it. Losing the last file in a power cut is no harm, so nothing is synced; a torn file is dropped and counted.
"""

from __future__ import annotations

import gzip
import json
import logging
import os
import zlib
from collections.abc import Iterable, Mapping
from typing import Any, Optional, Tuple

BYTES_MAX = 64 * 1024 * 1024
TRIES = 8  # how many of the oldest are given up for one that does not fit on a full disk
DROPPED = "dropped.json"
SUFFIX = ".json.gz"
log = logging.getLogger("slotlight.agent")

Report = dict  # what a report is on the wire


class Spool:
    """Belongs to one thread."""

    def __init__(self, folder: str, bytes_max: int = BYTES_MAX) -> None:
        self._folder, self._bytes_max = folder, bytes_max
        os.makedirs(folder, mode=0o700, exist_ok=True)
        self._sizes = {name: os.stat(self._path(name)).st_size for name in sorted(os.listdir(folder)) if name.endswith(SUFFIX)}
        self._last: Optional[Tuple[str, frozenset]] = None  # the newest file, and the digests it can do without repeating

    def __len__(self) -> int:
        return len(self._sizes)

    @property
    def size_bytes(self) -> int:
        return sum(self._sizes.values())

    def add(self, report: Report, bodies: Mapping[str, Any]) -> None:
        """Keep a report. `bodies` has a text (or something with `body()`) for every digest the portal may not have."""
        before = self._last[1] if self._last is not None and self._last[0] in self._sizes else frozenset()
        texts = {digest: text.body() for digest, text in bodies.items() if digest not in before}
        number = max([int(name.split(".")[0]) for name in self._sizes], default=0) + 1
        name = f"{number:012d}{SUFFIX}"
        if self._fit(name, {**report, "bodies": texts}):
            self._last = (name, frozenset(bodies))

    def oldest(self) -> Optional[Tuple[str, Report]]:
        """Its name, and the report with what texts it has. Whatever cannot be read is dropped."""
        while self._sizes:
            name = min(self._sizes)
            report = self._read(name)
            if report is not None:
                return name, report
            self._remove(name)
            self._count("", "")
        return None

    def done(self, name: str) -> None:
        self._remove(name)

    def dropped(self) -> str:
        """What was lost, as a sentence; "" when nothing was."""
        said = self._lost()
        if not said["count"]:
            return ""
        when = f", taken from {said['first']} to {said['last']}" if said["first"] else ""
        why = f"The portal did not answer for longer than {self._bytes_max} bytes of disk could keep."
        return f"reports lost: {said['count']}{when}. {why}"

    def forget_dropped(self) -> None:
        if os.path.exists(self._path(DROPPED)):
            os.unlink(self._path(DROPPED))

    def _fit(self, name: str, report: Report) -> bool:
        packed = gzip.compress(json.dumps(report, separators=(",", ":")).encode("utf-8"), 1, mtime=0)
        if len(packed) > self._bytes_max:
            self._count(report["taken_at"], report["taken_at"])
            return False
        while self._sizes and self.size_bytes + len(packed) > self._bytes_max:
            self._drop()
        for _ in range(TRIES):
            try:
                self._write(name, packed)
                return True
            except OSError as error:
                log.error("the report of %s could not be kept: %s.", report["taken_at"], error)
                if not self._sizes:
                    break
                self._drop()
        self._count(report["taken_at"], report["taken_at"])
        return False

    def _drop(self) -> None:
        """The oldest goes; what the next one needs of it, the next one gets."""
        names = sorted(self._sizes)[:2]
        gone = self._read(names[0])
        self._remove(names[0])
        self._count(gone["taken_at"] if gone else "", gone["taken_at"] if gone else "")
        heir = self._read(names[1]) if gone and len(names) > 1 else None
        if gone and heir:
            needed = {item["digest"] for item in heir["captures"]}
            heir["bodies"] = {**{d: body for d, body in gone["bodies"].items() if d in needed}, **heir["bodies"]}
            try:
                self._write(names[1], gzip.compress(json.dumps(heir, separators=(",", ":")).encode("utf-8"), 1, mtime=0))
            except OSError:
                self._remove(names[1])
                self._count(heir["taken_at"], heir["taken_at"])

    def _read(self, name: str) -> Optional[Report]:
        try:
            with open(self._path(name), "rb") as file:
                report = json.loads(gzip.decompress(file.read()))
            return report if {"taken_at", "captures", "bodies"} <= report.keys() else None
        except (OSError, EOFError, ValueError, AttributeError, zlib.error) as error:
            log.error("the kept report %s cannot be read: %s.", self._path(name), error)
            return None

    def _write(self, name: str, data: bytes) -> None:
        new = self._path(name + ".new")
        try:
            with open(new, "wb") as file:
                file.write(data)
            os.replace(new, self._path(name))
        except OSError:
            _unlink([new])
            raise
        self._sizes[name] = len(data)

    def _remove(self, name: str) -> None:
        del self._sizes[name]
        _unlink([self._path(name)])

    def _lost(self) -> dict[str, Any]:
        try:
            with open(self._path(DROPPED), encoding="utf-8") as file:
                said = json.load(file)
            return {"count": int(said["count"]), "first": str(said["first"]), "last": str(said["last"])}
        except (OSError, ValueError, KeyError, TypeError):
            return {"count": 0, "first": "", "last": ""}

    def _count(self, first: str, last: str) -> None:
        said = self._lost()
        said = {"count": said["count"] + 1, "first": said["first"] or first, "last": last or said["last"]}
        try:
            with open(self._path(DROPPED), "w", encoding="utf-8") as file:
                json.dump(said, file)
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
