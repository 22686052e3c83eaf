"""What a SCSI disk means by the sense codes that come with its verdict: additional sense code and qualifier in words.

SPC-6 annex F lists them; only 5D (failure prediction) and 0B (warning) are used for informational exceptions. smartmontools
(`scsiGetIEString`) knows the same ones. Codes that the standard leaves to vendors are named as such.
"""

from __future__ import annotations

FAILURE, WARNING = 0x5D, 0x0B
FALSE = (FAILURE, 0xFF)  # the disk was made to report a failure as a test of the reporting
VENDORS = 0x80  # qualifiers from here on are the vendor's own

_PREDICTED = {
    0x00: "failure prediction threshold exceeded",
    0x01: "media failure prediction threshold exceeded",
    0x02: "logical unit failure prediction threshold exceeded",
    0x03: "spare area exhaustion prediction threshold exceeded",
    0x1D: "hardware impending failure: power loss protection circuit",
    0x73: "media impending failure: endurance limit met",
    0xFF: "failure prediction threshold exceeded (false: a test report that was requested from the disk)",
}
_PARTS = ("hardware", "controller", "data channel", "servo", "spindle", "firmware")  # qualifiers 10, 20, ... 60
_REASONS = (
    "general hard drive failure",
    "drive error rate too high",
    "data error rate too high",
    "seek error rate too high",
    "too many block reassigns",
    "access times too high",
    "start unit times too high",
    "channel parametrics",
    "controller detected",
    "throughput performance",
    "seek time performance",
    "spin-up retry count",
    "drive calibration retry count",
)
_WARNED = {
    0x00: "warning",
    0x01: "warning: specified temperature exceeded",
    0x02: "warning: enclosure degraded",
    0x03: "warning: background self-test failed",
    0x04: "warning: background pre-scan detected a medium error",
    0x05: "warning: background medium scan detected a medium error",
    0x06: "warning: non-volatile cache is now volatile",
    0x07: "warning: degraded power to the non-volatile cache",
    0x08: "warning: power loss expected",
    0x09: "warning: device statistics notification active",
    0x0A: "warning: high critical temperature limit exceeded",
    0x0B: "warning: low critical temperature limit exceeded",
    0x0C: "warning: high operating temperature limit exceeded",
    0x0D: "warning: low operating temperature limit exceeded",
    0x0E: "warning: high critical humidity limit exceeded",
    0x0F: "warning: low critical humidity limit exceeded",
    0x10: "warning: high operating humidity limit exceeded",
    0x11: "warning: low operating humidity limit exceeded",
    0x12: "warning: microcode security at risk",
    0x13: "warning: microcode digital signature validation failure",
    0x14: "warning: physical element status change",
}
TEMPERATURES = frozenset((0x01, 0x0A, 0x0B, 0x0C, 0x0D))  # qualifiers of 0B that are about temperature only


def words(asc: int, ascq: int) -> str:
    """The meaning in lower case; for a code that no standard defines, what is known of it."""
    if asc == WARNING:
        return _WARNED.get(ascq, f"warning, qualifier 0x{ascq:02x}, which is {_whose(ascq)}")
    if asc != FAILURE:
        return f"sense code 0x{asc:02x}/0x{ascq:02x}"
    part, reason = (ascq >> 4) - 1, ascq & 0x0F
    if ascq in _PREDICTED:
        return _PREDICTED[ascq]
    if 0 <= part < len(_PARTS) and reason < len(_REASONS):
        return f"{_PARTS[part]} impending failure: {_REASONS[reason]}"
    return f"failure prediction threshold exceeded, qualifier 0x{ascq:02x}, which is {_whose(ascq)}"


def _whose(ascq: int) -> str:
    return "the vendor's own" if ascq >= VENDORS else "in no standard"
