"""Hands and eyes at the shelves: asks the process that is the shelves, never the node."""

import json
import socket
from pathlib import Path


class ShelfDown(Exception):
    """Nobody answers at the shelves, or they do not understand."""


def ask(folder: Path, **asked) -> list[dict]:
    """Every shelf as it is; `shelf=0, bay=3, present=False` or `shelf=0, mood="refuses"` first does that. Raises ShelfDown."""
    try:
        with socket.socket(socket.AF_UNIX) as sock, sock.makefile("rw") as line:
            sock.connect(str(folder / "control"))
            line.write(json.dumps(asked) + "\n")
            line.flush()
            answer = json.loads(line.readline())
    except (OSError, ValueError) as error:
        raise ShelfDown(f"{folder}: {error}") from error
    if "error" in answer:
        raise ShelfDown(answer["error"])
    return answer["shelves"]


def lit(folder: Path) -> dict[tuple[int, int], list[str]]:
    """(shelf, bay) -> the lamps that are on there. Dark bays are left out."""
    return {(shelf["shelf"], bay["bay"]): bay["lit"] for shelf in ask(folder) for bay in shelf["bays"] if bay["lit"]}


def log(folder: Path) -> list[dict]:
    path = folder / "log.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
