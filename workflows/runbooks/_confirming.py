"""What a person types before an order that names a vdev by its guid: the end of the guid, and the pool's name."""

from collections.abc import Mapping
from typing import Any

from workflows.engine.core import ConfirmStep, Params


def _guid_end_and_pool(params: Params, plan: Mapping[str, Any]) -> str:
    return f"{plan['params']['vdev_guid'][-6:]} {params['pool']}"


def guid_and_pool(slug: str, title: str, why: str, what: str) -> ConfirmStep:
    """`what` ends the sentence "Type the last 6 digits of the guid that …"."""
    hint = f"Type the last 6 digits of the guid that {what}, a space, and the pool's name."
    return ConfirmStep(slug=slug, title=title, why=why, phrase=_guid_end_and_pool, phrase_hint=hint)
