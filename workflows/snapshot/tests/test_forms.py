"""What other tools pack: which host, which outputs, what is dropped, and what is said to lack."""

import io
import lzma
import tarfile
import zipfile

import pytest

from workflows.facts import known, node_facts
from workflows.snapshot import forms, reading
from workflows.snapshot.tests import stage
from workflows.snapshot.unpack import Refused

STATUS = """  pool: tank
 state: DEGRADED
status: One or more devices could not be used because the label is missing or
\tinvalid.  Sufficient replicas exist for the pool to continue
\tfunctioning in a degraded state.
action: Replace the device using 'zpool replace'.
   see: https://openzfs.github.io/openzfs-docs/msg/ZFS-8000-4J
  scan: none requested
config:

\tNAME                        STATE     READ WRITE CKSUM
\ttank                        DEGRADED     0     0     0
\t  mirror-0                  DEGRADED     0     0     0
\t    wwn-0x5000c500a65b207b  ONLINE       0     0     0
\t    8127381893217219832     UNAVAIL      0     0     0  was /dev/disk/by-id/wwn-0x5000c500a65b208b-part1

errors: No known data errors
"""
LIST = "NAME   SIZE  ALLOC   FREE  CKPOINT  EXPANDSZ   FRAG    CAP  DEDUP    HEALTH  ALTROOT\ntank  9.09T  4.55T  4.55T        -         -     2%    50%  1.00x  DEGRADED  -\n"
MTIME = 1795780000


def pools_of(snapshot):
    facts = node_facts("x", {f"{c.source}/{c.key}" if c.key else c.source: c for c in snapshot.captures}, 0.0, ())
    return [(pool.name, pool.state) for pool in facts.pools_read if known(pool.guid) or True]


def sos(**more):
    root = "sosreport-oss07-2026-11-27-abcdefg"
    files = {
        f"{root}/hostname": "oss07.example.org\n",
        f"{root}/sos_commands/zfs/zpool_status_-vx": STATUS,
        f"{root}/sos_commands/zfs/zpool_list": LIST,
        f"{root}/etc/shadow": "root:secret\n",
        f"{root}/sos_commands/networking/ip_addr": "1: lo\n",
        f"{root}/proc/sys/kernel/random/boot_id": "6d1fb0f0-6a2c-4b7e-9d57-0e3f6c2f5a11\n",
        **more,
    }
    return {name: text.encode() for name, text in files.items()}


@pytest.mark.parametrize("mode", ["w:gz", "w:xz", "w:bz2", "w"])
def test_a_sosreport(mode):
    found = reading.read(stage.packed(sos(), mode, mtime=MTIME))
    assert (found.form, found.host, found.taken_at) == (forms.SOS, "oss07.example.org", MTIME)
    assert pools_of(found) == [("tank", "DEGRADED")]
    assert "zpool status" in found.holds
    assert found.others == 2
    assert any(lack.what == "SMART report" for lack in found.lacks)
    assert "secret" not in "".join(one.text for one in found.captures)


def test_a_link_within_a_sosreport_is_left_out_and_never_followed():
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w:xz") as tar:
        for name, data in sos().items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
        link = tarfile.TarInfo("sosreport-oss07-2026-11-27-abcdefg/uname")
        link.type, link.linkname = tarfile.SYMTYPE, "sos_commands/kernel/uname_-a"
        tar.addfile(link)
    assert pools_of(reading.read(held.getvalue())) == [("tank", "DEGRADED")]


def test_a_truenas_debug_archive():
    lines = "-" * 27
    files = {
        "ixdiagnose/plugins/zfs/pool_status.txt": f"\n{lines}\n1) ZFS Pool(s) Status\n{lines}\n\n{STATUS}",
        "ixdiagnose/plugins/zfs/pool_list.txt": f"\n{lines}\n1) ZFS Pool(s)\n{lines}\n\n{LIST}",
        "ixdiagnose/plugins/active_directory/config.json": '{"password": "secret"}',
        "ixdiagnose/artifacts/logs/middlewared.log": "x\n",
    }
    found = reading.read(stage.packed({name: text.encode() for name, text in files.items()}, mtime=MTIME))
    assert (found.form, found.host) == (forms.TRUENAS, "")
    assert pools_of(found) == [("tank", "DEGRADED")]
    assert found.others == 2


def test_the_text_of_pvereport():
    text = (
        "\n==== general system info ====\n\n# hostname\n\npve1\n\n# pveversion --verbose\n\nproxmox-ve: 8.2.0 (running kernel: 6.8.4-2-pve)\n"
        f"\n==== info about volumes ====\n\n# lvs\n\n\n# zpool status\n\n{STATUS}\n# zfs list\n\nNAME  USED  AVAIL  REFER  MOUNTPOINT\n"
    )
    found = reading.read(text.encode())
    assert (found.form, found.host, found.taken_at) == (forms.PVE, "pve1", 0)
    assert pools_of(found) == [("tank", "DEGRADED")]


def test_a_zip_of_outputs_with_names_of_ones_own():
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("case 4711/first look.txt", STATUS)
        archive.writestr("case 4711/photo.jpg", b"\xff\xd8\xff")
    found = reading.read(held.getvalue())
    assert (found.form, found.taken_at) == (forms.SAVED, 0)
    assert pools_of(found) == [("tank", "DEGRADED")]
    assert found.others == 1


def test_one_text_compressed_or_not():
    assert pools_of(reading.read(STATUS.encode())) == [("tank", "DEGRADED")]
    assert pools_of(reading.read(lzma.compress(STATUS.encode()))) == [("tank", "DEGRADED")]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"it is broken, help\n", "could be read"),
        (b"\x28\xb5\x2f\xfd" + bytes(100), "zstd"),
        (b"PK\x03\x04" + bytes(100), "cut short"),
        (stage.packed({"photos/a.png": b"x", "photos/b.pdf": b"y"}), "none of its 2 files"),
        (stage.packed({f"sosreport-{name}-1/hostname": name.encode() for name in "ab"}), "holds 2 hosts"),
        (stage.packed({"a/slotlight-collect/manifest": b"", "b/slotlight-collect/manifest": b""}), "holds 2 hosts"),
    ],
)
def test_what_is_no_archive_of_one_host_is_refused_in_words(data, why):
    with pytest.raises(Refused, match=why):
        reading.read(data)


def test_a_zip_that_is_locked_lies_or_has_links_is_refused():
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        link = zipfile.ZipInfo("status")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/shadow")
    with pytest.raises(Refused, match="a link or a device"):
        reading.read(held.getvalue())
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("../status", STATUS)
    with pytest.raises(Refused, match="leads out of the archive"):
        reading.read(held.getvalue())
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.txt", bytes(10 * 1024 * 1024))
    lying = bomb.getvalue().replace((10 * 1024 * 1024).to_bytes(4, "little"), (100).to_bytes(4, "little"))
    with pytest.raises(Refused, match="damaged|cut short|could be read"):
        reading.read(lying)
