"""What a node says of itself when a walk on it turned red. Its machine is gone with the walk, and what is seen once may not come again."""

import subprocess

from lab.guest import Guest, GuestFailed

LINES = (
    "zpool status -v",
    "zpool history -il | tail -n 60",
    "zpool events | tail -n 80",
    "tail -n 120 /proc/spl/kstat/zfs/dbgmsg",
    "dmesg | tail -n 80",
    "journalctl -o short -n 80 -u slotlight-agent -u slotlight-relay -u zfs-zed",
)
LINE_SECONDS = 20  # a command of ZFS may hang on the node where something went wrong; the others still speak


def of(guest: Guest) -> str:
    """Each line and what came of it, one after the other; a line that does not end says so. Never raises for a node that is silent."""
    return "\n".join(f"$ {line}\n{_output_of(guest, line)}" for line in LINES)


def _output_of(guest: Guest, line: str) -> str:
    try:
        return guest.sh(f"timeout --kill-after=1 {LINE_SECONDS} sh -c '{line}'", seconds=LINE_SECONDS + 10)
    except (GuestFailed, subprocess.TimeoutExpired) as silent:
        return f"did not say it: {silent}\n"
