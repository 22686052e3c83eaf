"""Small inputs that were once misread, and what must be said of each.

`CASES` names for every file the situations that must be found, with their severity, and whether replacing a member must be forbidden while
they stand. A file may say more than is listed; it may never be called good, and no text may be refused as a whole.
"""

from pathlib import Path

import pytest

from workflows.situations.tests.texts import READ_AT
from workflows.triage import json_answer, triage
from workflows.triage.answer import HINTS

FOLDER = Path(__file__).parent / "known_cases"
GATE = "gate"
REPLACES = {"wwid-mismatch-replace", "blink-and-replace"}

# file without its ending -> "slug severity", and GATE where no member may be replaced
CASES: dict[str, tuple[str, ...]] = {
    "status/stlog": ("pool-down act", GATE),
    "status/st72": ("pool-down act", GATE),
    "status/degr2": (),
    "status/comma": ("resilver-running watch",),
    "status/m01-mirror-both-resilvering": ("resilver-running watch",),
    "status/m02-draid-rebuild-all-children-resilvering": ("resilver-running watch",),
    "status/m03-top-unavail-leaves-online": ("pool-down act", GATE),
    "status/m04-cache-unavail": ("cache-device-lost watch",),
    "status/cache_log_lost": ("cache-device-lost watch",),
    "status/m05-log-offline": ("log-device-lost watch",),
    "status/m06-log-faulted": ("log-device-lost watch",),
    "status/m07-spare-unavail": ("spare-unavailable watch",),
    "status/spare_unavail": ("spare-unavailable watch",),
    "status/m08-spare-inuse-nowhere": ("spare-unused watch",),
    "status/m09-suspended-hung-before-errors": ("pool-suspended act", GATE),
    "status/m10-spare-done-says-being-replaced": ("spare-in-use watch",),
    "status/m11-hostid-mismatch-imported": ("hostid-mismatch watch",),
    "status/m15-replacing-new-half-gone": ("replacing-dead act", GATE),
    "status/replacing_dead": ("replacing-dead act", GATE),
    "status/m16-both-halves-degraded": ("errors-everywhere act", GATE),
    "status/m17-status-5E-both-corrupted": ("names-moved act", GATE),
    "status/m18-scan-unknown": ("unexplained",),
    "status/m19-labels-2-3-unreadable": ("labels-missing watch",),
    "status/m21-one-odd-pool-vetoes-the-other": (),
    "status/m22-unknown-key-line": ("unexplained",),
    "status/accidental_add": ("top-without-redundancy act",),
    "status/cksum_many": ("errors-everywhere act", GATE),
    "status/old_scrub_full": ("scrub-overdue info", "pool-filling act"),
    "status/scrub_errs": ("data-errors act",),
    "status/proxmox_rpool": ("disk-missing act",),
    "status/truenas_partuuid": (),
    "import/twins": ("import-blocked",),
    "import/import_destroyed": ("import-blocked info",),
    "import/import_missing_log": ("import-blocked",),
    "import/import_unsup": ("import-blocked",),
    "log/m12-kernel-suspended": ("pool-suspended act",),
    "log/m13-kernel-medium-errors": ("kernel-errors act",),
    "log/m14-kernel-hba-fault": ("hba-fault act", GATE),
    "log/m20-events-statechange-faulted": (),
    "field/wwid-mismatch-status-and-lsscsi": ("wwid-mismatch act",),
    "field/wwid-mismatch-replace-refused": ("refused-command watch",),
    "field/slow-inquiry-62s": ("slow-inquiry act",),
    "field/task-aborts-and-mmp-suspension": ("pool-suspended act",),
    "field/branch-of-devices-offline": ("hba-fault act", GATE),
    "field/smart-failure-prediction": ("disk-failing",),
    "field/smart-self-test-failed": ("disk-failing",),
    "field/import-io-error": ("import-blocked act",),
    "field/import-one-device-zdb": (),
    "field/import-after-device-delete": (
        "vdev-degraded act",
    ),  # of its tree one row is left: the member is found, and replaced, by its guid
    "matrix/01-bad-intent-log-k4-pool-faulted": ("pool-down act", GATE),
    "matrix/02-pool-metadata-corrupted-72-faulted": ("pool-down act", GATE),
    "matrix/03-newer-version-a5-faulted": ("pool-down act", GATE),
    "matrix/04-unsupported-features-a5-unavail": ("pool-down act", GATE),
    "matrix/05-hostid-mismatch-ey-online": ("hostid-mismatch watch",),
    "matrix/06-errata-er": ("pool-errata watch",),
    "matrix/07-only-the-mirror-row-counts-errors-9p": ("vdev-degraded",),
    "matrix/08-degraded-no-member-says-why": ("vdev-degraded",),
    "matrix/09-leaf-degraded-without-a-note": ("member-degraded",),
    "matrix/10-errors-list-unavailable-permission-denied": ("data-errors act",),
    "matrix/11-errors-list-unavailable-suspended": ("pool-suspended act", GATE),
    "matrix/12-scrub-ended-with-errors-none-listed-now": ("scrub-errors",),
    "matrix/13-log-device-unavail": ("log-device-lost watch",),
    "matrix/14-cache-device-unavail": ("cache-device-lost watch",),
    "matrix/15-cache-device-faulted-corrupted-data": ("cache-device-lost watch",),
    "matrix/16-spare-unavail": ("spare-unavailable watch",),
    "matrix/17-spare-faulted-corrupted-data": ("spare-unavailable watch",),
    "matrix/18-special-mirror-lost-one": (),
    "matrix/19-special-a-single-disk-in-a-pool-of-mirrors": ("aux-without-redundancy",),
    "matrix/20-one-top-level-without-redundancy-beside-mirrors": ("top-without-redundancy act",),
    "matrix/21-device-removal-cancelled-running": ("device-removal",),
    "matrix/22-resilver-cancelled": ("resilver-cancelled",),
    "matrix/23-scrub-paused": ("scrub-paused",),
    "matrix/24-non-native-block-size": ("block-size-mismatch",),
    "matrix/25-rebuild-done-needs-scrub": ("rebuild-unverified",),
    "matrix/26-mmp-suspension": ("pool-suspended act", GATE),
    "matrix/27-i-o-suspension": ("pool-suspended act", GATE),
}
HARMLESS = {  # read, and nothing in it asks for anything
    "field/background-scan",
    "field/freebsd-resilver-done",
    "field/freebsd-zpool-iostat",
    "field/sas-tree-phy-counters",
    "field/illumos-mdb",
    "field/kstat-txgs",
    "field/zpool-status-c-temp",
    "field/zpool-iostat-latency",
}
EXPECTED = {
    "field/btt-d2c",
    "field/freebsd-iostat-x",
    "field/freebsd-resilver-status",
    "field/kstat-dmu_tx",
    "field/wwid-mismatch-zdb-children",
}


def answered(name: str) -> dict:
    path = FOLDER / f"{name}.txt"
    return json_answer.answer(triage([(path.name, path.read_text())], read_at=READ_AT))


def test_every_file_has_an_expectation():
    there = {path.relative_to(FOLDER).with_suffix("").as_posix() for path in FOLDER.rglob("*.txt")}
    assert there == CASES.keys() | HARMLESS | EXPECTED


@pytest.mark.parametrize("name", CASES)
def test_what_is_wrong_is_found(name):
    answer = answered(name)
    found = {f"{one['slug']} {one['severity']}" for one in answer["situations"]}
    for wanted in set(CASES[name]) - {GATE}:
        assert any(one == wanted or one.startswith(f"{wanted} ") for one in found), sorted(found)
    assert answer["situations"]
    assert answer["good"] == all(one["slug"] in HINTS for one in answer["situations"])
    assert not (name.startswith("matrix/") and answer["good"]), "none of the reasons that zpool status can give is good"


@pytest.mark.parametrize("name", [name for name, wanted in CASES.items() if GATE in wanted])
def test_no_replacement_is_advised_while_the_pool_forbids_it(name):
    for one in answered(name)["situations"]:
        assert not REPLACES & set(one["runbooks"]), one["slug"]
        assert not any(cure["kind"] == "replace" for cure in one["advice"]), one["slug"]


@pytest.mark.parametrize("name", sorted(CASES.keys() | HARMLESS | EXPECTED))
def test_none_is_refused_as_a_whole(name):
    assert any(text["outcome"] in ("read", "partly") for text in answered(name)["texts"])


@pytest.mark.parametrize("name", sorted(HARMLESS))
def test_nothing_is_raised_where_nothing_is_wrong(name):
    assert not [one for one in answered(name)["situations"] if one["severity"] == "act"]


def test_a_decimal_comma_is_one():
    [pool] = answered("status/comma")["pools"]
    assert pool["scan"]["percent"] == 3.91


def test_what_is_missing_is_not_known():
    [pool] = answered("status/degr2")["pools"]
    assert pool["scan"] is None
    assert pool["unknown"]["scan"]
    assert pool["losses_survived"] is None or pool["losses_survived"] <= 0  # a mirror with one row may lack the other


def test_two_pools_of_one_name_are_two():
    pools = answered("import/twins")["pools"]
    assert len({pool["id"] for pool in pools}) == len(pools) == 2


def test_one_odd_pool_hides_no_other():
    assert len(answered("status/m21-one-odd-pool-vetoes-the-other")["pools"]) == 2


def test_a_healthy_rebuild_is_no_loss():
    [pool] = answered("status/m02-draid-rebuild-all-children-resilvering")["pools"]
    assert pool["losses_survived"] is None or pool["losses_survived"] >= 0
    assert not any("lost more" in one["meaning"] for one in answered("status/m02-draid-rebuild-all-children-resilvering")["situations"])


def test_a_contradiction_is_named_and_its_margin_is_not_known():
    [pool] = answered("status/m03-top-unavail-leaves-online")["pools"]
    assert pool["contradiction"]
    assert pool["losses_survived"] is None
