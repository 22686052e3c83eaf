#!/usr/bin/python3
"""Stands before the node's smartctl, for the one thing QEMU's disks lack: they have no SMART, and so give no verdict on their own health.

Where the real smartctl says that SMART is not available, "passed" is added to its words; everything else is passed on as it is.
It runs on the node and imports nothing of the lab.
"""

import json
import subprocess
import sys

REAL = "/usr/sbin/smartctl.real"


def main() -> int:
    ran = subprocess.run([REAL, *sys.argv[1:]], stdout=subprocess.PIPE, check=False)
    sys.stdout.buffer.write(with_verdict(ran.stdout))
    return ran.returncode


def with_verdict(said: bytes) -> bytes:
    try:
        value = json.loads(said)
    except ValueError:
        return said
    if not isinstance(value, dict) or value.get("smart_support", {}).get("available") is not False:
        return said
    return json.dumps({**value, "smart_status": {"passed": True}}, indent=2).encode() + b"\n"


if __name__ == "__main__":
    sys.exit(main())
