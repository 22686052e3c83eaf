"""What stands on pages of other apps besides their own, for as long as it would say the same: runs, alarms and outside alerts."""

from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from app.core.compiled_queries import WrittenOnce
from app.notices import alarms
from app.notices.models import OutsideAlert
from app.runs.pages import page_versions


@WrittenOnce
def _outside() -> QuerySet[OutsideAlert, Any]:
    return OutsideAlert.objects.filter(resolved_at=None).order_by("pk").values_list("pk", "severity", "summary")


def beside() -> Any:
    return page_versions.beside(), _outside(), alarms.stamp(timezone.now())
