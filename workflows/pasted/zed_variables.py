"""The environment in which ZED runs its scripts: one event, each of its fields a variable (zed(8): ZEVENT_CLASS, ZEVENT_POOL, ...).

People paste it from `env`, `set` or a script that writes it into a log. It says what a mail of ZED says, and is judged as that is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from agents.collectors.base import Unparsed
from agents.collectors.zpool_events import NUMBERED
from workflows.pasted import zed_mail
from workflows.pasted.base import Reader, refused
from workflows.pasted.zed_mail import Notice, Notices

FORM = "The environment of a script of ZED"
STATES = NUMBERED | {"0x4": "UNAVAIL", "0x7": "ONLINE"}  # as `zpool status` calls what the kernel numbers
OF_A_MAIL: Mapping[str, str] = {  # a variable -> the field of a mail that says the same; the first that stands there counts
    "CLASS": "class",
    "EID": "eid",
    "POOL": "pool",
    "POOL_GUID": "pool_guid",
    "VDEV_STATE_STR": "state",
    "VDEV_STATE": "state",
    "VDEV_PATH": "vpath",
    "VDEV_GUID": "vguid",
    "VDEV_DEVID": "devid",
    "VDEV_TYPE": "vtype",
    "TIME_STRING": "time",
    "ZIO_ERR": "error",
    "ZIO_OBJECT": "objid",
    "VDEV_CKSUM_ERRORS": "cksum",
    "VDEV_READ_ERRORS": "read",
    "VDEV_WRITE_ERRORS": "write",
}
_NAME = r"[\s>|]{0,20}(?:(?:export|declare -x|env|\+) )?(?:ZEVENT|ZED|ZPOOL|ZDB|ZFS|ZINJECT)[A-Z0-9_]{0,60}="
_EVENT = re.compile(r"[\s>|]{0,20}(?:(?:export|declare -x|env|\+) )?ZEVENT_(?P<name>[A-Z0-9_]{1,60})=(?P<value>.{0,400})")


def parse(lines: Sequence[str]) -> Notices | Unparsed:
    """A notice for each event: a variable that was named before begins the next one."""
    found: list[dict[str, tuple[str, str]]] = []
    for line in lines:
        pair = _EVENT.match(line[:500])
        if pair is None:
            continue
        if not found or pair.group("name") in found[-1]:
            found.append({})
        found[-1][pair.group("name")] = (pair.group("value").strip().strip("'\""), line.strip())
    notices = tuple(_notice(event) for event in found if "CLASS" in event or "SUBCLASS" in event)
    return Notices(notices) if notices else refused("ZED", next(iter(lines), ""))


def _notice(event: Mapping[str, tuple[str, str]]) -> Notice:
    one = Notice(form=FORM)
    for variable, name in OF_A_MAIL.items():
        value, line = event.get(variable, ("", ""))
        if value and name not in one.fields:
            one.fields[name] = STATES.get(value, value) if name == "state" else value
            one.lines[name] = line
    if "class" not in one.fields:
        one.fields["class"], one.lines["class"] = event["SUBCLASS"]
    return one


def notes(value: Notices) -> tuple[str, ...]:
    return ("The fields of events that ZED acted upon; they tell of that moment, and `zpool status -P -p` of now.",)


READER = Reader(
    name="zed_variables",
    first=_EVENT.pattern.replace("?P<name>", "").replace("?P<value>", ""),
    goes_on=_NAME,
    strict=True,
    parse=parse,
    situations=zed_mail.situations,
    notes=notes,
    again="zpool status -P -p",
)
