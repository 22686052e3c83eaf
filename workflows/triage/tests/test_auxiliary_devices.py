"""Log, cache, spare, special and dedup devices that are lost: each has its own answer. The texts are our own, in the forms of 0.8 to 2.4 and FreeBSD."""

import pytest

from workflows.triage import triage

HEAD = "  pool: {p}\n state: {s}\nstatus: {st}\naction: {ac}\n{see}  scan: scrub repaired 0B in 01:12:03 with 0 errors on Sun Nov  8 01:36:05 2026\nconfig:\n\n\tNAME  STATE     READ WRITE CKSUM\n{rows}\nerrors: No known data errors\n"


def status(
    rows,
    s="DEGRADED",
    st="One or more devices could not be opened.  Sufficient replicas exist for\n\tthe pool to continue functioning in a degraded state.",
    ac="Attach the missing device and online it using 'zpool online'.",
    see="   see: https://openzfs.github.io/openzfs-docs/msg/ZFS-8000-2Q\n",
    p="tank",
):
    return HEAD.format(p=p, s=s, st=st, ac=ac, see=see, rows=rows)


Z = "\t  raidz2-0  ONLINE       0     0     0\n" + "".join(
    f"\t    wwn-0x5000c500a65b30{i:02d}  ONLINE       0     0     0\n" for i in range(4)
)
T = "\ttank  DEGRADED     0     0     0\n"
CASES = {
    "slog-unavail-2.2": status(
        T + Z + "\tlogs\n\t  11841203557260374151  UNAVAIL      0     0     0  was /dev/disk/by-id/nvme-ACME_P48_S1-part1\n"
    ),
    "slog-faulted-2.1": status(
        T + Z + "\tlogs\n\t  nvme0n1p1  FAULTED      3    12     0  too many errors\n",
        st="One or more devices are faulted in response to persistent errors.\n\tSufficient replicas exist for the pool to continue functioning in a\n\tdegraded state.",
        ac="Replace the faulted device, or use 'zpool clear' to mark the device\n\trepaired.",
        see="",
    ),
    "slog-removed-0.8": status(
        T + Z + "\tlogs\t\n\t  nvme-ACME_P48_S1  REMOVED      0     0     0\n",
        st="One or more devices has been removed by the administrator.\n\tSufficient replicas exist for the pool to continue functioning in a\n\tdegraded state.",
        ac="Online the device using 'zpool online' or replace the device with\n\t'zpool replace'.",
        see="",
    ),
    "slog-mirror-half": status(
        T
        + Z
        + "\tlogs\n\t  mirror-1  DEGRADED     0     0     0\n\t    nvme-ACME_P48_S1  ONLINE       0     0     0\n\t    nvme-ACME_P48_S2  UNAVAIL      0     0     0  cannot open\n"
    ),
    "slog-mirror-both": status(
        T
        + Z
        + "\tlogs\n\t  mirror-1  UNAVAIL      0     0     0  insufficient replicas\n\t    nvme-ACME_P48_S1  UNAVAIL      0     0     0  cannot open\n\t    nvme-ACME_P48_S2  UNAVAIL      0     0     0  cannot open\n"
    ),
    "slog-freebsd": status(
        T
        + "\t  mirror-0  ONLINE       0     0     0\n\t    da0p3  ONLINE       0     0     0\n\t    da1p3  ONLINE       0     0     0\n\tlogs\n\t  gpt/slog0  UNAVAIL      0     0     0  cannot open\n"
    ),
    "cache-unavail": status(
        "\ttank  ONLINE     0     0     0\n" + Z + "\tcache\n\t  nvme-ACME_P44_C1  UNAVAIL      0     0     0  cannot open\n",
        s="ONLINE",
        st="One or more devices could not be opened.  Sufficient replicas exist for\n\tthe pool to continue functioning in a degraded state.",
    ),
    "cache-faulted-freebsd": status(
        "\ttank  ONLINE     0     0     0\n" + Z + "\tcache\n\t  gpt/l2arc0  FAULTED      0     0     0  corrupted data\n",
        s="ONLINE",
        st="One or more devices could not be used because the label is missing or\n\tinvalid.  Sufficient replicas exist for the pool to continue\n\tfunctioning in a degraded state.",
        ac="Replace the device using 'zpool replace'.",
        see="   see: https://openzfs.github.io/openzfs-docs/msg/ZFS-8000-4J\n",
    ),
    "spare-unavail": status(
        "\ttank  ONLINE     0     0     0\n"
        + Z
        + "\tspares\n\t  wwn-0x5000c500a65b4001  UNAVAIL   cannot open\n\t  wwn-0x5000c500a65b4002  AVAIL   \n",
        s="ONLINE",
    ),
    "spare-faulted": status("\ttank  ONLINE     0     0     0\n" + Z + "\tspares\n\t  sdq  FAULTED   corrupted data\n", s="ONLINE"),
    "special-mirror-half": status(
        T
        + Z
        + "\tspecial\n\t  mirror-1  DEGRADED     0     0     0\n\t    nvme-ACME_P48_S1  ONLINE       0     0     0\n\t    nvme-ACME_P48_S2  UNAVAIL      0     0     0  cannot open\n"
    ),
    "dedup-mirror-half": status(
        T
        + Z
        + "\tdedup\t\n\t  mirror-1  DEGRADED     0     0     0\n\t    nvme-ACME_P48_S1  ONLINE       0     0     0\n\t    6101334559021189117  FAULTED      0     0     0  was /dev/nvme1n1p1\n"
    ),
    "special-single-ok": status(
        "\ttank  ONLINE     0     0     0\n" + Z + "\tspecial\n\t  nvme-ACME_P48_S1  ONLINE       0     0     0\n",
        s="ONLINE",
        st="x",
        ac="y",
        see="",
    ).replace("status: x\naction: y\n", ""),
    "special-single-lost": status(
        "\ttank  UNAVAIL     0     0     0  insufficient replicas\n"
        + Z
        + "\tspecial\n\t  nvme-ACME_P48_S1  UNAVAIL      0     0     0  cannot open\n",
        s="UNAVAIL",
        st="One or more devices could not be opened.  There are insufficient\n\treplicas for the pool to continue functioning.",
        ac="Attach the missing device and online it using 'zpool online'.",
    ),
    "bad-intent-log": status(
        "\ttank  FAULTED     0     0     0  bad intent log\n"
        + Z
        + "\tlogs\n\t  nvme-ACME_P48_S1  UNAVAIL      0     0     0  cannot open\n",
        s="FAULTED",
        st="An intent log record could not be read.\n\tWaiting for administrator intervention to fix the faulted pool.",
        ac="Either restore the affected device(s) and run 'zpool online',\n\tor ignore the intent log records by running 'zpool clear'.",
        see="   see: https://openzfs.github.io/openzfs-docs/msg/ZFS-8000-K4\n",
    ),
}
ZI = "\t  raidz2-0  ONLINE\n" + "".join(f"\t    wwn-0x5000c500a65b30{i:02d}  ONLINE\n" for i in range(4))


def imp(rows, st, ac, state="UNAVAIL", more=True, see="6X"):
    return (
        f"   pool: tank\n     id: 9132407765112204821\n  state: {state}\nstatus: {st}\n action: {ac}\n   see: https://openzfs.github.io/openzfs-docs/msg/ZFS-8000-{see}\n config:\n\n{rows}"
        + (
            "\n\tAdditional devices are known to be part of this pool, though their\n\texact configuration cannot be determined.\n"
            if more
            else ""
        )
    )


MISS = "One or more devices are missing from the system."
MA = "The pool cannot be imported. Attach the missing\n\tdevices and try again."
CASES |= {
    "import-log-row-0.8": imp("\ttank  UNAVAIL  missing device\n" + ZI + "\tlogs\n\t  nvme-ACME_P48_S1  UNAVAIL\n", MISS, MA),
    "import-log-unknown-top-0.8": imp("\ttank  UNAVAIL  missing device\n" + ZI, MISS, MA),
    "import-log-other-system-2.0": imp(
        "\ttank  UNAVAIL  missing device\n"
        + ZI
        + "\tlogs\n\t  mirror-1  UNAVAIL  insufficient replicas\n\t    nvme-ACME_P48_S1  UNAVAIL\n\t    nvme-ACME_P48_S2  UNAVAIL\n",
        "The pool was last accessed by another system.",
        "The pool cannot be imported due to damaged devices or data.",
        see="EY",
    ),
    "import-log-2.3": imp("\ttank  UNAVAIL  missing device\n" + ZI + "\tlogs\n\t  nvme-ACME_P48_S1  UNAVAIL  cannot open\n", MISS, MA)
    .replace("   pool:", "  pool:")
    .replace("     id:", "    id:")
    .replace("  state:", " state:")
    .replace(" action:", "action:")
    .replace("   see:", "   see:")
    .replace(" config:", "config:"),
    "import-log-freebsd": imp(
        "\ttank  UNAVAIL  missing device\n\t  mirror-0  ONLINE\n\t    gpt/disk0  ONLINE\n\t    gpt/disk1  ONLINE\n\tlogs\n\t  gpt/slog0  UNAVAIL\n",
        MISS,
        MA,
    ),
    "import-bad-log": imp(
        "\ttank  FAULTED  bad intent log\n" + ZI + "\tlogs\n\t  nvme-ACME_P48_S1  UNAVAIL\n",
        "An intent log record cannot be read.",
        "The pool cannot be imported due to damaged devices or data.",
        state="FAULTED",
        more=False,
        see="K4",
    ),
    "cannot-import-m": "# zpool import tank\nThe devices below are missing or corrupted, use '-m' to import the pool anyway:\n\t    nvme-ACME_P48_S1 [log]\n\ncannot import 'tank': one or more devices is currently unavailable\n",
    "import-log-corrupt": imp(
        "\ttank  UNAVAIL  missing device\n" + ZI + "\tlogs\n\t  nvme-ACME_P48_S1  FAULTED  corrupted data\n", MISS, MA
    ),
    "import-special-missing": imp("\ttank  UNAVAIL  missing device\n" + ZI + "\tspecial\n\t  nvme-ACME_P48_S1  UNAVAIL\n", MISS, MA),
    "import-log-and-cache-ok": imp(
        "\ttank  ONLINE\n" + ZI + "\tcache\n\t  nvme-ACME_P44_C1\n\tspares\n\t  sdq\n",
        "x",
        "The pool can be imported using its name or numeric identifier.",
        state="ONLINE",
        more=False,
    ).replace("status: x\n", ""),
}

CASES |= {
    "import-degraded-log-lost": imp(
        "\ttank  DEGRADED\n"
        + ZI
        + "\tcache\n\t  nvme-ACME_P44_C1\n\tlogs\n\t  mirror-1  UNAVAIL  insufficient replicas\n"
        + "\t    nvme-ACME_P48_S1  UNAVAIL  corrupted data\n\t    nvme-ACME_P48_S2  UNAVAIL  corrupted data\n",
        "One or more devices contains corrupted data.",
        "The pool can be imported despite missing or damaged devices.  The\n\tfault tolerance of the pool may be compromised if imported.",
        state="DEGRADED",
        more=False,
        see="4J",
    ),
    "cannot-import-m-after": "# zpool import tank\ncannot import 'tank': one or more devices is currently unavailable\n"
    "The devices below are missing, use '-m' to import the pool anyway:\n\t    17062795994610183000 [log]\n",
    "cannot-remove-a-half": "# zpool remove tank scsi-36002248aaaa1\ncannot remove scsi-36002248aaaa1: operation not supported on this type of pool\n",
    "cannot-remove-with-records": "# zpool remove tank mirror-4\ncannot remove mirror-4: Mount encrypted datasets to replay logs.\n",
}

# name -> (the first situation, kinds of its cures, a command, words of its meaning)
EXPECTED = {
    "slog-unavail-2.2": (
        "log-device-lost",
        "reseat online replace remove add import-without-log",
        "zpool remove tank 11841203557260374151",
        "loses none of it",
    ),
    "slog-faulted-2.1": (
        "log-device-lost",
        "reseat clear replace remove add import-without-log",
        "zpool clear tank GUID",
        "Synchronous writes go to the data disks",
    ),
    "slog-removed-0.8": (
        "log-device-lost",
        "reseat online replace remove add import-without-log",
        "zpool online tank nvme-ACME_P48_S1",
        "loses none of it",
    ),
    "slog-mirror-half": (
        "log-device-lost",
        "reseat online replace detach",
        "zpool detach tank nvme-ACME_P48_S2",
        "still holds the log alone",
    ),
    "slog-mirror-both": (
        "log-device-lost",
        "reseat online replace online replace remove add import-without-log",
        "zpool remove tank mirror-1",
        "loses none of it",
    ),
    "slog-freebsd": (
        "log-device-lost",
        "reseat online replace remove add import-without-log",
        "zpool replace tank gpt/slog0 /dev/gpt/NEW_DISK",
        "loses none of it",
    ),
    "cache-unavail": ("cache-device-lost", "online remove add", "zpool remove tank nvme-ACME_P44_C1", "no data is at stake"),
    "cache-faulted-freebsd": ("cache-device-lost", "remove add", "zpool remove tank gpt/l2arc0", "no data is at stake"),
    "spare-unavail": ("spare-unavailable", "reseat remove add", "zpool remove tank wwn-0x5000c500a65b4001", "1 spare of tank is free"),
    "spare-faulted": ("spare-unavailable", "reseat remove add", "zpool remove tank GUID", "the next failure in tank has no spare"),
    "special-mirror-half": (
        "aux-without-redundancy",
        "online replace",
        "zpool online tank nvme-ACME_P48_S2",
        "when it is lost too, the whole pool is lost",
    ),
    "dedup-mirror-half": ("aux-without-redundancy", "online replace", "zpool online tank 6101334559021189117", "the whole pool is lost"),
    "special-single-ok": (
        "aux-without-redundancy",
        "attach restore",
        "zpool attach tank nvme-ACME_P48_S1 /dev/disk/by-id/NEW_DISK",
        "it is no cache",
    ),
    "special-single-lost": (
        "pool-down",
        "reseat online export-import import",
        "zpool export tank",
        "Special vdevs hold what finds the data",
    ),
    "bad-intent-log": ("pool-down", "reseat online clear scrub", "zpool clear tank", "whoever owns the data decides"),
    "import-log-row-0.8": ("import-blocked", "reseat import-without-log", "zpool import -m 9132407765112204821", "loses for ever"),
    "import-log-unknown-top-0.8": (
        "import-blocked",
        "look reseat import-without-log",
        "zpool import -m 9132407765112204821",
        "It can be a data device as well",
    ),
    "import-log-other-system-2.0": ("import-blocked", "reseat import-without-log", "zpool import -m 9132407765112204821", "loses for ever"),
    "import-log-2.3": ("import-blocked", "reseat import-without-log", "zpool import -m 9132407765112204821", "loses for ever"),
    "import-log-freebsd": ("import-blocked", "reseat import-without-log", "zpool import -m 9132407765112204821", "loses for ever"),
    "import-bad-log": ("import-blocked", "reseat import-without-log", "zpool import -m 9132407765112204821", "loses for ever"),
    "import-log-corrupt": (
        "import-blocked",
        "reseat import-without-log",
        "zpool import -m 9132407765112204821",
        "All data devices of tank are there",
    ),
    "import-special-missing": ("import-blocked", "look reseat", "zpool import -d /dev/disk/by-id", "-m does not help"),
    "cannot-import-m": (
        "refused-command",
        "look import-without-log",
        "zpool import -m tank",
        "What was acknowledged and stood only in that log is lost",
    ),
}
EXPECTED |= {
    "import-degraded-log-lost": ("import-blocked", "reseat import-without-log", "zpool import -m 9132407765112204821", "loses for ever"),
    "cannot-import-m-after": ("refused-command", "look import-without-log", "zpool import -m tank", "the last seconds before it went down"),
    "cannot-remove-a-half": ("refused-command", "look", "", "`zpool detach POOL` with the guid of the one disk"),
    "cannot-remove-with-records": ("refused-command", "look", "", "Load the keys and mount those datasets"),
}
QUIET = ("import-log-and-cache-ok",)
OF_A_POOL_THAT_SERVES = ("slog", "cache", "spare")


@pytest.mark.parametrize("name", EXPECTED)
def test_its_answer(name):
    slug, kinds, command, words = EXPECTED[name]
    found = triage([("paste", CASES[name])]).situations
    one = next(situation for situation in found if situation.slug == slug)
    assert [cure.kind for cure in one.cures] == kinds.split()
    assert not command or command in [" ".join(argv) for cure in one.cures for argv in cure.argv]
    assert words in one.meaning
    without = next((cure for cure in one.cures if cure.kind == "import-without-log"), None)
    assert without is None or name.startswith("slog") or "lost" in without.save_first  # what it costs stands with the command


@pytest.mark.parametrize("name", [name for name in CASES if name.startswith(OF_A_POOL_THAT_SERVES)])
def test_a_device_that_holds_no_data_is_no_loss_of_data(name):
    found = triage([("paste", CASES[name])]).situations
    assert len(found) == 1
    assert found[0].severity == "watch"
    assert not found[0].gate
    assert not any(words in found[0].meaning for words in ("Do not write", "get help", "can rebuild", "loses the pool"))


@pytest.mark.parametrize("name", QUIET)
def test_a_listing_with_a_cache_and_a_spare_is_no_trouble(name):
    assert triage([("paste", CASES[name])]).situations == ()


def test_every_text_has_an_answer():
    assert {*EXPECTED, *QUIET} == {*CASES}
