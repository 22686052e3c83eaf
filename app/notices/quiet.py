"""Quiet hours: from when to when, by the clock of a place, a channel says nothing. Pure."""

from dataclasses import dataclass
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

DIGEST_AT = time(9)  # by the clock of the channel's place


def next_digest(zone: str, now: datetime) -> datetime:
    """When the next daily digest goes out, after `now`."""
    here = now.astimezone(ZoneInfo(zone))
    days = (here.date(), here.date() + timedelta(days=1))
    moments = (datetime.combine(day, DIGEST_AT, here.tzinfo).astimezone(now.tzinfo) for day in days)
    return next(moment for moment in moments if moment.timestamp() > now.timestamp())


@dataclass(frozen=True)
class Quiet:
    """`start` may be later in the day than `end`: then the hours pass midnight. Equal ones are no quiet hours."""

    start: time
    end: time
    zone: str

    def until(self, now: datetime) -> datetime | None:
        """When the quiet hours that are now will be over; None when there are none now.

        Made of the wall clock of the place, so a night with a change of the clock ends when that clock says so.
        """
        here = now.astimezone(ZoneInfo(self.zone))
        for day in (here.date() - timedelta(days=1), here.date()):
            begins = datetime.combine(day, self.start, here.tzinfo)
            ends = datetime.combine(day if self.start < self.end else day + timedelta(days=1), self.end, here.tzinfo)
            # As moments, not as wall clocks: two times of one zone compare by what their clocks show.
            if self.start != self.end and begins.timestamp() <= now.timestamp() < ends.timestamp():
                return ends.astimezone(now.tzinfo)
        return None
