"""What we know about nodes, pools and disks, joined from captures. Pure: no Django, no clock, no network."""

from agents.collectors.base import UnreadLine
from workflows.facts.fleet.census import LABEL_STATES, candidate_case, census, imported_pools, size, title
from workflows.facts.fleet.divergence import Suspect, suspects
from workflows.facts.fleet.identity import Identity, Remembered, identify
from workflows.facts.join import node_facts
from workflows.facts.model import (
    REPAIRS,
    BayFacts,
    DiskFacts,
    Ever,
    FleetFacts,
    Gone,
    HealthFacts,
    ImportableFacts,
    LabelFacts,
    LeafChange,
    LightFacts,
    MapFacts,
    NodeFacts,
    PathFacts,
    PoolFacts,
    ScanFacts,
    VdevFacts,
)
from workflows.facts.read.disk_condition import ConditionFacts, DiskLink, ErrorFacts, SelfTestFacts
from workflows.facts.read.disk_modes import ModeFacts, Switch
from workflows.facts.read.disk_service import OnPath, ServiceFacts
from workflows.facts.read.enclosures import EnclosureFacts
from workflows.facts.read.fabric import FabricFacts, Growth, LinkFacts, PhyFacts
from workflows.facts.read.firmware import FirmwareFacts
from workflows.facts.read.hostids import HostidFacts
from workflows.facts.read.kstats import KstatFacts
from workflows.facts.read.latency import LeafLatency, PoolLatency
from workflows.facts.read.scan_progress import Advance, Amount, ScanProgress
from workflows.facts.read.slots import BayWitness
from workflows.facts.read.smart_reports import ReportFacts
from workflows.facts.read.tunables import TunableFacts, TunablesFacts
from workflows.facts.read.uberblocks import DiskTimeline, Moment, PoolTimeline
from workflows.facts.read.versions import release, release_numbers
from workflows.facts.status_reasons import StatusReason, message_id, reason_of
from workflows.facts.unknown import Known, NotKnown, Unknown, derived, known, need

__all__ = [
    "LABEL_STATES",
    "REPAIRS",
    "Advance",
    "Amount",
    "BayFacts",
    "BayWitness",
    "ConditionFacts",
    "DiskFacts",
    "DiskLink",
    "DiskTimeline",
    "EnclosureFacts",
    "ErrorFacts",
    "Ever",
    "FabricFacts",
    "FirmwareFacts",
    "FleetFacts",
    "Gone",
    "Growth",
    "HealthFacts",
    "HostidFacts",
    "Identity",
    "ImportableFacts",
    "Known",
    "KstatFacts",
    "LabelFacts",
    "LeafChange",
    "LeafLatency",
    "LightFacts",
    "LinkFacts",
    "MapFacts",
    "ModeFacts",
    "Moment",
    "NodeFacts",
    "NotKnown",
    "OnPath",
    "PathFacts",
    "PhyFacts",
    "PoolFacts",
    "PoolLatency",
    "PoolTimeline",
    "Remembered",
    "ReportFacts",
    "ScanFacts",
    "ScanProgress",
    "SelfTestFacts",
    "ServiceFacts",
    "StatusReason",
    "Suspect",
    "Switch",
    "TunableFacts",
    "TunablesFacts",
    "Unknown",
    "UnreadLine",
    "VdevFacts",
    "candidate_case",
    "census",
    "derived",
    "identify",
    "imported_pools",
    "known",
    "message_id",
    "need",
    "node_facts",
    "reason_of",
    "release",
    "release_numbers",
    "size",
    "suspects",
    "title",
]
