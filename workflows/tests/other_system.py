"""What the tests of hosts of other systems than Linux share: a twin as an archive of it shows it, and the plans that a person gets there."""

from __future__ import annotations

import abc
import io
import json
import tarfile

from agents.operations import OPERATIONS
from twin import scenarios
from workflows.by_hand import grounds, snippet
from workflows.facts import FleetFacts, known, node_facts
from workflows.snapshot import recorded
from workflows.snapshot.tests import stage


class Read(abc.ABC):
    """Its facts, and the host of the archive. A subclass names the twin's host, its system as `uname` prints it, and what else is asked there."""

    HOST: type
    SYSTEM: str

    def __init__(self, folder, node, **more):
        (folder / "twin").mkdir()
        self.node = node
        self.host = self.HOST(scenarios.host(folder / "twin", node, scenarios.Clock()), **more)
        seen, captures = stage.traced(self.host)
        self.asked_besides(seen)
        about = {"host": "oss01", "hostid": node.hostid, "boot_id": self.host.boot_id, "system": self.SYSTEM}
        with tarfile.open(fileobj=io.BytesIO(stage.archive(seen, at=1795248315, **about))) as tar:
            parts = {one.name: tar.extractfile(one).read() for one in tar}
        self.archive = recorded.RecordedHost(recorded.read(parts))
        by_place = {f"{one.source}/{one.key}" if one.key else one.source: one for one in captures}
        self.facts = FleetFacts({"oss01": node_facts("oss01", by_place, 0.0, ())})

    @classmethod
    def drifted(cls, folder, **more):
        return cls(folder, scenarios.drifted(), **more)

    @abc.abstractmethod
    def asked_besides(self, seen):
        """Ask what the archive of such a host holds besides."""

    def params(self, **more):
        pool = self.node.pools[0]
        return {"node": "oss01", "pool": pool.name, "pool_guid": str(pool.guid), **more}

    def plan(self, operation, **more):
        params = {name: value for name, value in self.params(**more).items() if name != "node"}
        return OPERATIONS["plan"].run(self.archive, {"operation": operation, "params": json.dumps(params), "by": "hand"})


def lost(read):
    return str(next(leaf for leaf in read.node.pools[0].leaves() if leaf.not_present).guid)


def serving(read):
    return str(next(leaf for leaf in read.node.pools[0].leaves() if not leaf.not_present).guid)


PLANS = {
    "zpool_replace": lambda read, wwid: {"vdev_guid": lost(read), "wwid": wwid},
    "zpool_replace_serving": lambda read, wwid: {"vdev_guid": str(read.node.pools[0].leaves()[0].guid), "wwid": wwid},
    "zpool_offline": lambda read, wwid: {"vdev_guid": str(read.node.pools[0].leaves()[0].guid)},
    "zpool_online": lambda read, wwid: {"vdev_guid": lost(read)},
    "zpool_scrub": lambda read, wwid: {},
    "zpool_export_unused": lambda read, wwid: {},
}


def planned(kind: type[Read], folder, operation: str, wwid: str, link: str):
    """(what was read, the name of the system, the snippet, whether a disk comes in): the plan is made of the archive, and its snippet asks nothing of Linux."""
    read = kind(folder, scenarios.member_back("2.1.11-1")) if operation == "zpool_online" else kind.drifted(folder)
    answer = read.plan(operation, **PLANS[operation](read, wwid))
    assert answer.outcome == "succeeded", answer.reason
    found = grounds.of(read.facts, "oss01", answer.result)
    assert known(found), found
    assert found.boot_id == read.host.boot_id
    plan = {**answer.result, "by_hand": found.to_plan()}
    assert grounds.Grounds.from_plan(plan) == found
    text = snippet.make(plan, "0" * 32, 1795249000)
    assert "/sys/" not in text
    has_disk = "wwid" in answer.result["params"]
    assert not has_disk or answer.result["argv"][-1] == link
    return read, found.system, text, has_disk
