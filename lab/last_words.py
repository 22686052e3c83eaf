"""The state of a node when a walk on it turned red. Its machine is gone with the walk, and what is seen once may not come again."""

import subprocess
from pathlib import Path

from lab.guest import Guest, GuestFailed

LINES = (
    "zpool status -v",
    "zpool history -il | tail -n 60",
    "zpool events | tail -n 80",
    "tail -n 120 /proc/spl/kstat/zfs/dbgmsg",
    "dmesg | tail -n 80",
    "journalctl -o short -n 80 -u slotlight-agent -u slotlight-relay -u zfs-zed",
)
LINE_SECONDS = 20  # a command of ZFS may hang on the node where something went wrong; the others still answer


CONSOLE_BYTES = 6000


def of(guest: Guest, console: Path) -> str:
    """Each line and its output, one after the other, and the end of the console where the kernel of the node panicked: its machine then ended, and
    answers nothing more. Never raises for a node that does not answer."""
    return _panic(console) or "\n".join(f"$ {line}\n{_output_of(guest, line)}" for line in LINES)


def _panic(console: Path) -> str:
    written = console.read_text(errors="replace") if console.exists() else ""
    if "Kernel panic" not in written:
        return ""
    return f"The kernel of the node panicked, and its machine ended. The end of its console:\n{written[-CONSOLE_BYTES:]}\n"


def _output_of(guest: Guest, line: str) -> str:
    try:
        return guest.sh(f"timeout --kill-after=1 {LINE_SECONDS} sh -c '{line}'", seconds=LINE_SECONDS + 10)
    except (GuestFailed, subprocess.TimeoutExpired) as silent:
        return f"no output: {silent}\n"
