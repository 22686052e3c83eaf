"""`python -m lab.shelf DIR --port P --shelves N --bays 8`: the process that is the shelves, until it is told to end.

It answers iSCSI on the port, and whoever holds DIR/control in JSON lines: what is asked there is done as by hands at the shelf.
"""

import argparse
import json
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path

from lab.shelf.enclosure import Shelf
from lab.shelf.iscsi import Connection
from lab.shelf.scsi import Answer, answer


class Room:
    """All shelves of one machine, under one lock. DIR/log.jsonl says what changed when, and by whom."""

    def __init__(self, folder: Path, shelves: list[Shelf]) -> None:
        self.folder, self.shelves, self.lock = folder, shelves, threading.Lock()

    def scsi(self, lun: int, command: bytes, written: bytes) -> Answer:
        with self.lock:
            reply = answer(self.shelves, lun, command, written)
            self._log("node", lun, [change for change in reply.changes if len(change) > 1])
            return reply

    def hands(self, asked: dict) -> list[dict]:
        """{} only looks; {"shelf", "mood"} or {"shelf", "bay", "present", "address", ...} changes something."""
        with self.lock:
            if asked:
                self._do(self.shelves[asked["shelf"]], {name: value for name, value in asked.items() if name != "shelf"})
            return [shelf.as_json() for shelf in self.shelves]

    def _do(self, shelf: Shelf, asked: dict) -> None:
        if "mood" in asked:
            shelf.mood = asked["mood"]
        if "bay" in asked:
            bay = shelf.bays[asked["bay"] - 1]
            for name in ("address", "present", "sensed", "status"):
                if name in asked:
                    setattr(bay, name, asked[name])
        self._log("hands", shelf.number, [asked])

    def _log(self, by: str, shelf: int, changes: list[dict]) -> None:
        if changes:
            with (self.folder / "log.jsonl").open("a") as log:
                log.writelines(json.dumps({"at": round(time.time(), 3), "by": by, "shelf": shelf, **change}) + "\n" for change in changes)


def control(room: Room, sock: socket.socket) -> None:
    with sock, sock.makefile("rw") as line:
        try:
            reply = {"shelves": room.hands(json.loads(line.readline() or "{}"))}
        except (ValueError, KeyError, IndexError, TypeError) as error:
            reply = {"error": f"{type(error).__name__}: {error}"}
        line.write(json.dumps(reply) + "\n")


def accept(door: socket.socket, serve: Callable[[socket.socket], None]) -> None:
    while True:
        threading.Thread(target=serve, args=(door.accept()[0],), daemon=True).start()


def main() -> None:
    parser = argparse.ArgumentParser(prog="lab.shelf")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--shelves", type=int, default=1)
    parser.add_argument("--bays", type=int, default=8)
    parser.add_argument("--lot", type=int, default=0, help="which rack they are of: it is in their ids")
    parser.add_argument("--names", default="Slot{n:02d}", help="how bays are called; {n} is the number")
    asked = parser.parse_args()
    room = Room(asked.folder, [Shelf(number, asked.bays, asked.names, asked.lot) for number in range(asked.shelves)])
    door = socket.create_server(("127.0.0.1", asked.port))
    path = asked.folder / "control"
    path.unlink(missing_ok=True)
    hatch = socket.socket(socket.AF_UNIX)
    hatch.bind(str(path))
    hatch.listen()
    threading.Thread(target=accept, args=(hatch, lambda sock: control(room, sock)), daemon=True).start()
    accept(door, lambda sock: Connection(sock, room.scsi).serve())


if __name__ == "__main__":
    main()
