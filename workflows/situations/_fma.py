"""What the message ids of the fault manager of illumos and Solaris say: usr/src/cmd/fm/dicts/ZFS.po and DISK.po of illumos."""

from collections.abc import Mapping

OF_IDS: Mapping[str, tuple[str, str]] = {  # id -> what its title says, what it means
    "ZFS-8000-FD": ("that ZFS gave a member up after too many I/O errors", "The pool goes on without it if it has redundancy left. Cable, port and HBA lead to such errors as well as the disk."),
    "ZFS-8000-GH": ("too many checksum errors of a member", "What it returned was not what was written. Errors on several members have one cause: memory, HBA, cable."),
    "ZFS-8000-D3": ("that ZFS could not open a member", "Its disk is away, has another name, or does not answer; it need not be defective."),
    "ZFS-8000-LR": ("that ZFS could not open a member", "Its disk is away, has another name, or does not answer; it need not be defective."),
    "ZFS-8000-QJ": ("that a member missed writes", "It is there again and waits to be resilvered."),
    "ZFS-8000-HC": ("a suspended pool", "I/O of the pool failed, and all that uses it waits until its disks answer again. Which pool it is, the message does not say."),
    "ZFS-8000-JQ": ("a pool whose writes are refused", "I/O of the pool failed, and what is written to it is refused. Which pool it is, the message does not say."),
    "ZFS-8000-CS": ("a pool that could not be opened", "Members of it are missing, or its data does not fit together. Which pool it is, the message does not say."),
    "ZFS-8000-K4": ("an intent log that could not be read", "The last writes before the stop may be missing, and the pool is not opened without somebody's decision."),
}  # fmt: skip
OF_WHOLE_POOL = frozenset(("ZFS-8000-HC", "ZFS-8000-JQ", "ZFS-8000-CS", "ZFS-8000-K4"))
