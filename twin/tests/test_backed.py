"""Every text of the twin that is said to be a tool's stands in a genuine capture. What does not is named here, with its reason.

Read from the twin's source: each literal of several words, the parts of an f-string one by one, numbers aside. Genuine is what `captures/` holds
but for what is called `made-up--`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from agents.tests import lab_nodes, scenarios
from agents.tests.fuzz import FOLDER

TWIN = Path(__file__).parent.parent
# What is shown to people who try Slotlight out, and the fleet of the demo: no tool's words.
OUR_OWN = {"captured_host.py", "__main__.py", "play.py", "rack.py", "demo.py", "many.py", "store.py", "model.py", "disk_kinds.py"}
# reason -> module -> texts
UNBACKED: dict[str, dict[str, tuple[str, ...]]] = {
    "The twin speaks of itself, or as Python does of a file: no tool's words.": {
        "commands.py": ("the twin has no answer to `",),
        "disk_names.py": ("is no identity that the twin can play",),
        "scenarios.py": ("new half",),
        "host.py": ("Connection timed out", "Device or resource busy", "Permission denied", "a twin's disks hold no bytes"),
        "other_system.py": ("a twin's disks hold no bytes",),
        "labels.py": ("has no vdev", ", and the label does not keep its own"),
        "tree.py": ("Is a directory", "Not a directory"),
        "tuning.py": ("Invalid argument",),
    },
    "No FreeBSD runs in the lab. After its source: geom_disk.c, geom_dump.c, g_label.c, kern_mib.c, camcontrol.c, mount.c, swapinfo.c, fstyp.c.": {
        "freebsd.py": (
            "/dev/vtbd9p9 / ufs rw 9 9 devfs /dev devfs rw 9 9",
            "9 LABEL diskid/DISK-",
            ": filesystem not recognized",
            "> at scbus9 target",
            "Device 9K-blocks Used Avail Capacity /dev/vtbd9p9 9 9 9 9%",
            "Geom name:",
            "hd 9 sc 9",
            "i 9 o 9 ty freebsd-zfs xs GPT xt 9e9cba-9ecf-9d9-9ff9-9d9b",
            "kern.boot_id: Format: Length:9 Dump:9x",
            "kern.osrelease: 9.9-RELEASE kern.hostid:",
            "kern.ostype: FreeBSD kern.hostname:",
            "lun 9 (pass",
            "scbus9 on mpr9 bus 9:",
        ),
    },
    "No illumos runs in the lab. After its source: diskinfo.c, ls.c, disk_link.c, fuser.c, prtvtoc.c, swap.c, stmfadm.c, main.c and fork.c of its kernel.": {
        "illumos.py": (
            "(devid: ')scsi-9([9-9a-f]{9})-part9'",
            "LU Name: 9F9 Data File : /dev/rdsk/",
            "dr-x--x--x 9 root root 9",
            "rpool/ROOT/omnios / zfs rw,devices,setuid,nonbmand,exec,xattr,atime,dev=9 9 swap /var/run tmpfs xattr,dev=9 9",
            "swapfile dev swaplo blocks free /dev/zvol/dsk/rpool/swap 9,9 9 9 9",
            "unrecognized command '",
        ),
    },
    "No scene of the lab lost a log before an import. After OpenZFS's source: zpool_import_props in lib/libzfs/libzfs_pool.c at 2.1.16 and 2.4.4.": {
        "importer.py": ("The devices below are missing or corrupted, use '-m' to import the pool anyway:", "UNAVAIL cannot open"),
    },
    "No node of the lab boots by Proxmox's tool, or had a disk that went away under sgdisk. After the script src/bin/proxmox-boot-tool of "
    "proxmox-kernel-helper, and gdisk 1.0.9's own words.": {
        "partitioning.py": (
            "' as vfat.. Done.",
            "' contains a filesystem ('vfat') - exiting (use --force to override)",
            "' has wrong filesystem (!= vfat).",
            "' is too small (<9M).",
            "' to list of synced ESPs..",
            "Installing grub x9_9 target..",
            "Installing systemd-boot.. Configuring systemd-boot..",
            "Problem opening the device for reading! Error is 9.",
            "sfdisk: cannot open",
        ),
    },
    "No adapter of the lab has these tools. ledctl after ledmon's src/ledctl/ledctl.c at 1.1.0; the others after texts that people show and their guides.": {
        "light_tools.py": (
            *("- Detailed Information", ": LOCATE Command completed successfully.", ": there is no place"),
            "Adapter Vendor Device SubSys SubSys Index Type ID ID Pci Address Ven ID Dev ID",
            *(
                "CLI Version",
                "Command Status",
                "Controller = 9 Status = Success Description =",
                "Device attributes",
                "Device is a Hard disk",
            ),
            *("Drive Locate Succeeded.", "Initiator at ID #9", "Model Number", "Physical device information"),
            *("Read configuration has been initiated for controller", "Ready (RDY)", "Response Data", "Serial No"),
            *("Show Drive Information Succeeded.", "Unit Serial No(VPD)", "led state:"),
        ),
    },
    "No release prints it: it stands for the words of those that are not written yet.": {
        "stories.py": ("ZFS: pool ost_9: allocation window moved for a reason of a release not yet written",),
    },
    "No scene of the lab was refused so. After OpenZFS's source: lib/libzfs/libzfs_pool.c and libzfs_util.c at 0.8.6, 2.1.16 and 2.3.4.": {
        "adding.py": ("cannot add to '", "': pool I/O is currently suspended"),
        "auxiliary.py": (": Pool busy; removal may already be in progress", "cannot remove"),
        "replacing.py": ("can only attach to mirrors and top-level disks",),
        "members.py": (
            ": scrub is paused; use 'zpool scrub' to resume",
            ": there is no active scrub",
            ": this action requires the resilver_defer feature",
            "cannot cancel scrubbing",
            "cannot pause scrubbing",
            "cannot restart resilver on",
        ),
    },
    "No scene of the lab was refused a special vdev. After OpenZFS's source: check_replication in cmd/zpool/zpool_vdev.c, zpool_add in lib/libzfs/libzfs_pool.c at 2.1.11, 2.4.4.": {
        "adding.py": (
            *("-way mirror", "-way mirror and new vdev uses", "adding devices with different physical sector sizes is not allowed"),
            *("and mirror vdevs,", "mirror contains devices of different sizes"),
            "mismatched replication level: pool and new vdev with different redundancy,",
            "mismatched replication level: pool uses",
            "mismatched replication level: pool uses disk and new vdev is mirror",
            "pool must be upgraded to add these vdevs",
        ),
    },
    "No scene of the lab removed a data vdev. After OpenZFS's source: zpool_vdev_remove in lib/libzfs/libzfs_pool.c, print_removal_status in cmd/zpool/zpool_main.c, at 2.1.16.": {
        "auxiliary.py": (
            "in 9h9m, completed on",
            "invalid config; all top-level vdevs must have the same sector size and not be raidz.",
            "remove: Removal of vdev",
        ),
    },
    "No scene of the lab destroyed a snapshot or asked for a dataset that is gone. After OpenZFS's source: cmd/zfs/zfs_main.c and lib/libzfs/libzfs_dataset.c at 2.1.16.": {
        "datasets.py": ("': dataset does not exist",),
        "snapshots.py": (
            "': dataset does not exist",
            "': snapshot has dependent clones use '-R' to destroy the following datasets:",
            ": dataset is busy",
            "cannot destroy '",
            "cannot destroy snapshot",
            "could not find any snapshots to destroy; check snapshot names.",
        ),
    },
    "Lines of files and of a history that tell of a machine and of what its people did; each has its own.": {
        "kernel.py": ("cpu 9 9 9 9 9 9 9 9 9 9 btime", "root=/dev/sda9 ro crashkernel=auto"),
        "lab_image.py": ("#9 SMP Debian 9.9.9-9 (9-9-9)",),
        "past.py": ("zpool create -o ashift=9 -o multihost=off", "zpool import -N -d /dev/disk/by-id"),
        "scenarios.py": ("sysfs /sys sysfs rw,nosuid 9 9",),
    },
    "Neither QEMU's disks and adapter nor scsi_debug can say it: saved modes, power conditions, defects, links, expanders, mpt3sas. After the "
    "tools' and the driver's own format strings.": {
        "drive_logs.py": (", def: 9, sav:", "change_mode_page: failed setting page"),
        "files.py": ("write through",),
        "sas.py": ("edge expander",),
        "smart.py": (
            "Current Drive Temperature: 9 C Drive Trip Temperature: 9 C Elements in grown defect list:",
            "Device is in STANDBY BY COMMAND mode, exit(9)",
            "FAILURE PREDICTION THRESHOLD EXCEEDED: ascq=9x9",
            "SMART support is: Enabled Temperature Warning: Enabled",
        ),
        "smart_json.py": (
            *("Background short", "Device is in STANDBY BY COMMAND mode, exit(9)", "Failed in segment"),
            *("SAS or SATA device", "expander device", "phy enabled;"),
            *("Completed without error", "Completed: failed segments", "Completed: read failure", "Self-test routine in progress"),
        ),
        "stories.py": (
            *(": attempting task abort! scmd(9a9a9a9b)", ": _scsih_tm_display_info: handle(9x9b9), sas_address("),
            *(": enclosure logical id(", ": task abort: SUCCESS scmd(9a9a9a9b)"),
        ),
    },
    "No node of the lab has multipath-tools. After the formats of its map, path group and path (libmultipath/print.h, 0.11) and multipathd's own wildcards.": {
        "multipath.py": ("-+- policy='service-time 9' prio=", "features='9' hwhandler='9' wp=rw"),
    },
    "No shelf of the lab answers `--page=es`. After sg_ses's own format strings.": {
        "ses.py": (
            "Enclosure Status diagnostic page: INVOP=9, INFO=9, NON-CRIT=9, CRIT=9, UNRECOV=9 generation code: 9x9 status descriptor list",
            "Ident=9, Do not remove=9, DC overvoltage=9, DC undervoltage=9 DC overcurrent=9, Hot swap=9, Fail=9, Requested on=9, Off=9 "
            "Overtmp fail=9, Temperature warn=9, AC fail=9, DC fail=9",
            "Ident=9, Do not remove=9, Hot swap=9, Fail=9, Requested on=9 Off=9, Actual speed=9 rpm, Fan at intermediate speed",
            "Ident=9, Fail=9, OT failure=9, OT warning=9, UT failure=9 UT warning=9 Temperature=9 C",
            "Predicted failure=9, Disabled=9, Swap=9, status: {}",
            *("Power supply", "Temperature sensor", "] Overall descriptor:"),
        ),
    },
    "Of a pool that a report tells of and a rehearsal plays: neither 2.1.11 nor 2.3.2 could be brought to say it (docs/lab.md). After OpenZFS's source.": {
        "status.py": (
            "Attach the missing device and online it using 'zpool online'.",
            "One or more devices could not be opened. Sufficient replicas exist for the pool to continue functioning in a degraded state.",
            "One or more devices could not be opened. There are insufficient replicas for the pool to continue functioning.",
            "ZFS-9-9C",
            "ZFS-9-9Q",
        ),
    },
}


def plain(text: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"\d+", "9", text)).strip()


@cache
def genuine() -> str:
    texts = [
        path.read_text() for path in sorted(FOLDER.rglob("*.txt")) if not path.name.startswith("made-up--")
    ]  # and the scenes among them
    texts += [path.read_text() for path in sorted(scenarios.root().rglob("*")) if path.is_file() and path.suffix in (".txt", ".json")]
    texts += [body["text"] for _, body in lab_nodes.everything()]
    return plain(re.sub(r"(?m)^[oe][>-] ", "", "\n".join(texts)))


def literals(source: str) -> Iterator[str]:
    """The texts of several words, and what looks like the number of an article of ZFS's."""
    tree = ast.parse(source)
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    within = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield from (part.value for part in node.values if isinstance(part, ast.Constant))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings | within:
            yield node.value


def is_printed(text: str) -> bool:
    return bool(re.search(r"[A-Za-z]{2}.*\s.*[A-Za-z]{2}|^ZFS-9", plain(text)))


MODULES = sorted(path.name for path in TWIN.glob("*.py") if path.name not in OUR_OWN)


def unbacked(module: str) -> list[str]:
    printed = {plain(text) for text in literals((TWIN / module).read_text()) if is_printed(text)}
    return sorted(text for text in printed if text not in genuine())


@pytest.mark.parametrize("module", MODULES)
def test_every_text_stands_in_a_genuine_capture(module):
    assert unbacked(module) == sorted(text for modules in UNBACKED.values() for text in modules.get(module, ()))


def test_a_text_that_nobody_printed_is_found():
    assert next(text for text in literals('f"cannot {verb} the pool: it is {how} today\\n"') if is_printed(text)) == " the pool: it is "
    assert plain(" the pool: it is ") not in genuine()
    assert "device is too small" in genuine()
