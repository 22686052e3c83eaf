"""The runs that were about one disk: it went in, it came out, or they were about a vdev whose label it carried."""

from typing import Any

from django.db.models import Q

from app.fleet.models import LabelSeen
from app.runs.models import Run
from app.runs.pages import run_page
from workflows.guards.several import CHOSEN

SHOWN = 20
WWIDS = {"old_wwid": "It is the disk the run began with.", **dict.fromkeys(CHOSEN, "It is the disk that was chosen or asked about.")}


def of_disk(wwid: str) -> list[dict[str, Any]]:
    """Newest first."""
    guids = set(LabelSeen.objects.filter(disk__wwid=wwid).values_list("vdev_guid", flat=True))
    by_wwid = Q()
    for name in WWIDS:
        by_wwid |= Q(**{f"params__{name}": wwid}) | Q(**{f"state__params__{name}": wwid})
    found = Run.objects.filter(by_wwid | Q(params__vdev_guid__in=sorted(guids))).select_related("requester")[:SHOWN]
    return [run_page.line(run) | {"role": _role(run, wwid)} for run in found]


def _role(run: Run, wwid: str) -> str:
    params = run.params | run.here.params
    role = next((words for name, words in WWIDS.items() if params.get(name) == wwid), "")
    return role or f"It carried the label of the vdev {params.get('vdev_guid', '')} that the run was about."
