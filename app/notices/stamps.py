"""What stands on pages of other apps besides their own, for as long as it would say the same: runs, and outside alerts."""

from typing import Any

from app.notices.models import OutsideAlert
from app.runs import stamps


def beside() -> Any:
    return stamps.beside(), list(OutsideAlert.objects.filter(resolved_at=None).order_by("pk").values_list("pk", "severity", "summary"))
