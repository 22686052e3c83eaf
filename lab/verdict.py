#!/usr/bin/python3
"""Stands before the node's smartctl, for what QEMU's disks lack: they have no SMART, so no verdict on their own health and no self-test log.

Where the real smartctl says that SMART is not available, a verdict and one self-test are added to its words. Of an NVMe disk, which has a health log there
and no self-test, what smartctl says of that since 7.5 is added where it is older. All else is passed on as it is.
It runs on the node and imports nothing of the lab.
"""

import json
import subprocess
import sys

REAL = "/usr/sbin/smartctl.real"
SELF_TEST = {
    "code": {"value": 1, "string": "Background short"},
    "result": {"value": 0, "string": "Completed"},
    "power_on_time": {"hours": 1},
}
ADDED = {"smart_status": {"passed": True}, "scsi_self_test_0": SELF_TEST}
OF_NVME = {"nvme_optional_admin_commands": {"self_test": False}}


def main() -> int:
    ran = subprocess.run([REAL, *sys.argv[1:]], stdout=subprocess.PIPE, check=False)
    sys.stdout.buffer.write(with_verdict(ran.stdout))
    return ran.returncode


def with_verdict(raw: bytes) -> bytes:
    try:
        value = json.loads(raw)
    except ValueError:
        return raw
    if not isinstance(value, dict):
        return raw
    if "nvme_smart_health_information_log" in value:
        value = {**OF_NVME, **value}
    elif value.get("smart_support", {}).get("available") is False:
        value = {**value, **ADDED}
    else:
        return raw
    return json.dumps(value, indent=2).encode() + b"\n"


if __name__ == "__main__":
    sys.exit(main())
