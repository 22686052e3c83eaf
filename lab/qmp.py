"""QEMU's machine protocol: one command, one answer. A fresh connection each time, so that no process owns the machine."""

import json
import socket
from pathlib import Path
from typing import Any

ANSWER_SECONDS = 30


class QemuRefused(Exception):
    """QEMU refused a command, or is not there any more."""


def ask(path: Path, command: str, /, **arguments: Any) -> Any:
    try:
        with socket.socket(socket.AF_UNIX) as sock, sock.makefile("rw") as line:
            sock.settimeout(ANSWER_SECONDS)
            sock.connect(str(path))
            line.readline()  # its greeting
            _one(line, "qmp_capabilities", {})
            return _one(line, command, arguments)
    except (OSError, ValueError) as error:
        raise QemuRefused(f"{command}: {error or type(error).__name__}") from error


def _one(line, command: str, arguments: dict[str, Any]) -> Any:
    line.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
    line.flush()
    while True:
        answer = json.loads(line.readline() or '{"error": {"desc": "QEMU hung up"}}')
        if "error" in answer:
            raise QemuRefused(f"{command}: {answer['error']['desc']}")
        if "return" in answer:  # what comes before are events
            return answer["return"]
