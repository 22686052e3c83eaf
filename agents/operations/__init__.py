"""The closed catalogue: everything the portal can ask of a node."""

from agents.operations import look, plan
from agents.operations.catalogue import CHANGING

OPERATIONS = {look.NAME: look, plan.NAME: plan, **CHANGING}
