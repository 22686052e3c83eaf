"""The state that `lsscsi -l` and `-L` print below each device: what the kernel gives no I/O to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from workflows.engine.core import Situation
from workflows.pasted.base import Where
from workflows.pasted.lsblk import DOWN, GOOD

_DEVICE = re.compile(r"\[([0-9]+:[0-9]+:[0-9]+:[0-9]+)\] +(\S+) .{0,300}?(?:/dev/(\w+))?[ -]*$")
_STATE = re.compile(r" {2}state=(\S{1,40})$")


def situations(lines: Sequence[str], where: Where) -> tuple[Situation, ...]:
    return tuple(_of_lines(lines, where))


def _of_lines(lines: Sequence[str], where: Where) -> Iterator[Situation]:
    hctl, name, heading = "", "", ""
    for line in lines:
        device, state = _DEVICE.match(line), _STATE.match(line)
        if device:
            hctl, name, heading = device.group(1), device.group(3) or "", line
        elif state and hctl and state.group(1) not in GOOD:
            yield _of_state(hctl, name, state.group(1), (heading, line), where)


def _of_state(hctl: str, name: str, state: str, lines: Sequence[str], where: Where) -> Situation:
    member = where.member(name)
    called = f"{name} ({hctl})" if name else hctl
    subject = {"node": where.node, "disk": name or hctl} | (member.subject if member else {})
    if state not in DOWN:
        return Situation(
            "unexplained", f"unexplained:{where.node}:lsscsi:{state}", where.node, "watch", f"{called}: the state {state} is not known here",
            f"The kernel calls {called} {state}, and nothing here says what that means. It is not taken for good.",
            where.evidence(*lines), subject=subject | {"source": "lsscsi", "text": state}, sure=False,
        )  # fmt: skip
    return Situation(
        "path-lost", f"path-lost:{where.node}:{name or hctl}", where.node, "act", f"The kernel has taken {called} out of service: {state}",
        f"The kernel calls {called} {state} and gives it no I/O. {member.sentence + ' ' if member else ''}It does so after errors that a reset did not mend, or "
        "when the link is gone. Look at its cable, port and bay first, then at the kernel's log of that time; the disk may be well.",
        where.evidence(*lines), subject=subject,
    )  # fmt: skip
