"""What we know about nodes, pools and disks, joined from captures. Pure: no Django, no clock, no network."""

from workflows.facts.condition import ConditionFacts, DiskLink, ErrorFacts, SelfTestFacts
from workflows.facts.divergence import Suspect, suspects
from workflows.facts.enclosures import EnclosureFacts
from workflows.facts.fabric import FabricFacts, Growth, LinkFacts, PhyFacts
from workflows.facts.hostids import HostidFacts
from workflows.facts.identity import Identity, Remembered, identify
from workflows.facts.join import node_facts
from workflows.facts.kstats import KstatFacts
from workflows.facts.latency import LeafLatency, PoolLatency
from workflows.facts.model import (
    REPAIRS,
    BayFacts,
    DiskFacts,
    FleetFacts,
    Gone,
    HealthFacts,
    ImportableFacts,
    Known,
    LabelFacts,
    LeafChange,
    NodeFacts,
    PathFacts,
    PoolFacts,
    ScanFacts,
    Unknown,
    UnreadLine,
    VdevFacts,
    known,
)
from workflows.facts.modes import ModeFacts, Switch
from workflows.facts.progress import Advance, Amount, ScanProgress
from workflows.facts.reports import ReportFacts
from workflows.facts.service import OnPath, ServiceFacts
from workflows.facts.slots import BayWitness
from workflows.facts.tunables import TunableFacts, TunablesFacts
from workflows.facts.uberblocks import DiskTimeline, Moment, PoolTimeline

__all__ = [
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
    "FabricFacts",
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
    "LinkFacts",
    "ModeFacts",
    "Moment",
    "NodeFacts",
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
    "Suspect",
    "Switch",
    "TunableFacts",
    "TunablesFacts",
    "Unknown",
    "UnreadLine",
    "VdevFacts",
    "identify",
    "known",
    "node_facts",
    "suspects",
]
