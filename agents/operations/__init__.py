"""The closed catalogue: everything the portal can ask of a node."""

from agents.operations import look, plan, probe_by_hand
from agents.operations.catalogue import CHANGING

OPERATIONS = {look.NAME: look, plan.NAME: plan, probe_by_hand.NAME: probe_by_hand, **CHANGING}
