"""Who was notified of one happening and when, for the pages of apps that do not know notices."""

from datetime import datetime

from app.notices.models import Happening, Notice


def of(kind: str, run: int, key: str) -> list[tuple[str, str, datetime, bool]]:
    """(channel, what became of it, when, whether it arrived), the oldest first; of the happening with this key and of its repeats."""
    found = Notice.objects.filter(kind=kind, run=run, key__startswith=key).select_related("channel").order_by("at")
    rows = [(one.channel.name, one.get_state_display(), one.ended_at or one.at, one.state == Notice.State.SENT) for one in found]
    waiting = Happening.objects.filter(key__startswith=key, spread_at=None).values_list("at", flat=True)
    return rows + [("every channel that is set to get it", "about to be sent", at, False) for at in waiting]
