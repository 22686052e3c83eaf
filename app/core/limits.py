"""How much one request may send, at every door. Nothing here needs Django.

A pasted text comes as multipart (as it is) or inside JSON, where a line break takes two bytes and an odd byte six.
"""

MIB = 1024 * 1024
PASTE_BYTES_MAX = 16 * MIB  # what triage reads at once: texts and files together, by page, API and command line
SNAPSHOT_BYTES_MAX = 64 * MIB  # an archive of a host without an agent, as sent
PAGE_BODY_BYTES_MAX = 4 * MIB  # every other form
AGENT_BODY_BYTES_MAX = 16 * MIB  # as sent, compressed; the first report of a 90-bay node is about 100 KiB
BODIES: dict[str, int] = {
    "/triage/": PASTE_BYTES_MAX + MIB,
    "/snapshots/bring/": SNAPSHOT_BYTES_MAX + MIB,
    "/api/v1/snapshots": SNAPSHOT_BYTES_MAX,
    "/api/v1/triage": 2 * PASTE_BYTES_MAX + MIB,
}
AGENTS = "/agent/v1/"


def body_bytes_max(path: str) -> int:
    """How many bytes the body of a request to `path` may have."""
    if path.startswith(AGENTS):
        return AGENT_BODY_BYTES_MAX
    return BODIES.get(path, PAGE_BODY_BYTES_MAX)


def too_large(path: str) -> str:
    """What is said to whoever sent more."""
    most = f"This takes {body_bytes_max(path) // MIB} MiB at most, and more was sent. Nothing of it was read or kept."
    if "snapshots" in path:
        return f"{most} Take the outputs of ZFS and disks out of it, and send those alone."
    if path in BODIES:
        return f"{most} Give the outputs of one node, one command at a time."
    if path.startswith(AGENTS):
        return f"{most} Send the bodies of captures in several reports."
    return most
