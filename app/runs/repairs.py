"""Which situations are being repaired, for pages of apps that do not know runs."""

from app.runs.models import Run


def under_way() -> dict[str, Run]:
    """Key of a situation -> the open run on it. There is one at most."""
    return {run.situation_key: run for run in Run.objects.filter(ended_at=None).exclude(situation_key="").select_related("requester")}
