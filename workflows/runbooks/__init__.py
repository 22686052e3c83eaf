"""Every runbook we ship. To add one: add a file, add it here. A definition that breaks a rule stops the portal."""

from agents.operations import OPERATIONS
from workflows.lint import load
from workflows.runbooks import blink_and_replace, device_delete_reimport, read_only_import, spare_return, wwid_mismatch_replace

RUNBOOKS = load(
    (
        wwid_mismatch_replace.RUNBOOK,
        blink_and_replace.RUNBOOK,
        spare_return.RUNBOOK,
        read_only_import.RUNBOOK,
        device_delete_reimport.RUNBOOK,
    ),
    OPERATIONS,
)

__all__ = ["RUNBOOKS"]
