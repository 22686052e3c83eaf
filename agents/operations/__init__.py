"""The closed catalogue: everything the portal can ask of a node. To add one: add a file, add it here."""

from agents.operations import look, plan, set_drive_mode, set_tunable, zpool_replace

OPERATIONS = {module.NAME: module for module in (look, plan, zpool_replace, set_tunable, set_drive_mode)}
