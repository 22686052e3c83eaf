"""No text about a FreeBSD or illumos host names what only Linux has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from workflows.engine.core import Cure, Situation
from workflows.situations import KINDS
from workflows.situations._kinds import advised
from workflows.situations._systems import FREEBSD, ILLUMOS, System, in_its_words, system_of
from workflows.situations.tests.texts import READ_AT, words
from workflows.triage import triage

CASES = Path(__file__).parents[2] / "triage" / "tests" / "known_cases"
LABEL_ALONE = "m19"  # without a tree no member's name says which system it is
TEXTS = sorted(
    path for folder in ("status", "matrix", "import") for path in (CASES / folder).iterdir() if not path.name.startswith(LABEL_ALONE)
)
NAME = re.compile(
    r"(?<=\s)(?:/dev/)?(?:disk/by-[a-z]+/)?(?:(?:sd|vd|nvme)[a-z0-9]{1,8}|(?:wwn|ata|scsi|nvme|usb)-[\w.:+-]+|[0-9a-f]{8}-[0-9a-f-]{27})(?=\s|$)"
)
OF_LINUX = re.compile(
    r"/dev/disk/|\blsscsi\b|/sys/|\bzgenhostid\b|\bmodprobe\b|\bby-id\b|/dev/sd[a-zA-Z]\b|dmesg -T|without -T|\blsblk\b(?! -o)|\bmultipath -|\bedac-util\b|\bsg_ses\b|\bsystemctl\b|\bsdparm\b|wwn-0x"
)
NOT_ON_ILLUMOS = re.compile(r"\bzpool events\b|\bzpool iostat -v -l\b")
SYSTEMS = {
    "FreeBSD by label": "gpt/disk{}",
    "FreeBSD by gptid": "gptid/1b2c3d4e-0a1b-11ee-9c0d-0025905e0a{:02}",
    "FreeBSD by device": "da{}p2",
    "illumos": "c0t5000C500335DC6{:02X}d0",
}


def renamed(text: str, form: str) -> str:
    """The same pool with its members named as another system names them."""
    seen: dict[str, str] = {}
    return NAME.sub(lambda found: seen.setdefault(found.group(), form.format(len(seen))), text)


@pytest.mark.parametrize("form", SYSTEMS.values(), ids=SYSTEMS)
@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_no_cure_names_what_only_linux_has(path: Path, form: str) -> None:
    text = renamed(path.read_text(), form)
    found = triage([(path.name, text)], read_at=READ_AT)
    for one in found.situations:
        typed = " ".join(" ".join(argv) for cure in one.cures for argv in cure.argv)
        assert OF_LINUX.search(f"{words(one)} {typed}") is None, (one.slug, words(one), typed)
        assert form != SYSTEMS["illumos"] or NOT_ON_ILLUMOS.search(f"{words(one)} {typed}") is None, (one.slug, words(one), typed)
    for node in found.fleet.nodes:
        assert not [each for each in found.missing(node) if OF_LINUX.search(f"{each.command} {each.why}")]
    if any(system_of(node).name for node in found.fleet.nodes.values()):
        assert not [each for each in found.not_looked_at if OF_LINUX.search(each) or re.search(r"/proc/|sysfs|block devices", each)]


def test_a_lost_member_tells_the_system_by_the_name_that_it_had() -> None:
    text = """  pool: lake
 state: DEGRADED
config:

\tNAME                     STATE     READ WRITE CKSUM
\tlake                     DEGRADED     0     0     0
\t  mirror-0               DEGRADED     0     0     0
\t    rack1                ONLINE       0     0     0
\t    1234567890123456789  UNAVAIL      0     0     0  was /dev/ada2p3

errors: No known data errors
"""
    (node,) = triage([("status.txt", text)], read_at=READ_AT).fleet.nodes.values()
    assert system_of(node).name == "FreeBSD"


LISTING = """   pool: lake
     id: 1518476551424056137
  state: UNAVAIL
 status: One or more devices contains corrupted data.
 action: The pool cannot be imported due to damaged devices or data.
 config:

\tlake      UNAVAIL  insufficient replicas
\t  {0}     UNAVAIL  corrupted data
\t  {1}     UNAVAIL  corrupted data
"""


@pytest.mark.parametrize(
    ("names", "command"),
    [
        (("sda", "sdb"), "zpool import -d /dev/disk/by-id"),
        (("gpt/a", "gpt/b"), "zpool import -d /dev/gpt"),
        (("da0", "da1"), "zpool import"),
        (("c0t0d0s0", "c0t1d0s0"), "zpool import -d /dev/dsk"),
        (("gpt/a", "sdb"), "zpool import -d /dev/disk/by-id"),  # they do not agree
    ],
)
def test_pools_are_listed_from_the_folder_in_which_that_system_has_its_names(names: tuple[str, str], command: str) -> None:
    (found,) = (one for one in triage([("text", LISTING.format(*names))]).situations if one.slug == "import-blocked")
    assert command in [" ".join(argv) for cure in found.cures for argv in cure.argv]


@pytest.mark.parametrize("system", [System(FREEBSD, "/dev/gpt"), System(FREEBSD), System(ILLUMOS, "/dev/dsk")])
@pytest.mark.parametrize("slug", KINDS)
def test_what_is_advised_of_a_kind_is_in_the_words_of_its_system(slug: str, system: System) -> None:
    bare = Situation(
        slug, slug, "oss01", KINDS[slug].severities[0], "A title", "A meaning.", (), subject={"pool": "oak", "vdev_guid": "123"}
    )
    (one,) = in_its_words(advised((bare,), KINDS), {"oss01": system})
    typed = " ".join(" ".join(argv) for cure in one.cures for argv in cure.argv)
    assert OF_LINUX.search(f"{words(one)} {typed}") is None, (words(one), typed)
    assert system.name != ILLUMOS or NOT_ON_ILLUMOS.search(f"{words(one)} {typed}") is None


@pytest.mark.parametrize(
    ("argv", "freebsd", "illumos"),
    [
        (("smartctl", "-t", "long", "/dev/disk/by-id/wwn-0x5000c500a65b201b"), *[(("smartctl", "-t", "long", "/dev/DISK"),)] * 2),
        (("zpool", "events", "-v", "oak"), (("zpool", "events", "-v", "oak"),), (("fmdump", "-eV"),)),
        (
            ("zpool", "iostat", "-v", "-l", "oak", "5", "3"),
            (("zpool", "iostat", "-v", "-l", "oak", "5", "3"),),
            (("iostat", "-xn", "5", "3"),),
        ),
        (("edac-util", "-v"), (), (("fmadm", "faulty"),)),
        (("sdparm", "--clear=WCE", "--save", "/dev/disk/by-id/wwn-0x5000c500a65b201b"), (), ()),
        (("multipath", "-ll"), (("gmultipath", "status"),), (("mpathadm", "list", "lu"),)),
    ],
)
def test_a_command_is_typed_as_that_system_has_it(argv, freebsd, illumos) -> None:
    one = Situation("x", "x", "oss01", "watch", "A title", "A meaning.", (), cures=(Cure("look", f"See `{' '.join(argv)}`.", (argv,)),))
    for system, typed in ((System(FREEBSD, "/dev/gpt"), freebsd), (System(ILLUMOS, "/dev/dsk"), illumos)):
        (found,) = in_its_words((one,), {"oss01": system})
        assert found.cures[0].argv == typed
        assert "wwn-0x" not in found.cures[0].text
