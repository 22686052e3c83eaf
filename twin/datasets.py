"""`zfs get` of the properties that decide what a dataset needs before it serves. A dataset that nobody described has the defaults of ZFS."""

from collections.abc import Sequence

from twin.answer import Answer, refused
from twin.model import Pool
from twin.view import View

ASKED = ("-Hp", "-r", "-t", "filesystem,volume", "-o", "name,property,value")
DEFAULTS = {
    "type": "filesystem",
    "canmount": "on",
    "sharenfs": "off",
    "sharesmb": "off",
    "keystatus": "-",
    "keylocation": "none",
    "encryptionroot": "-",
}


def answer(view: View, args: Sequence[str]) -> Answer | None:
    """None for a command line the twin has no honest answer to."""
    if tuple(args[: len(ASKED)]) != ASKED or len(args) != len(ASKED) + 2:
        return None
    wanted, name = args[-2].split(","), args[-1]
    pool = next((pool for pool in view.node.imported if pool.name == name), None)
    if pool is None:
        return refused(1, f"cannot open '{name}': dataset does not exist")
    mounted = {line.split()[0] for line in view.node.mounts if line.split()}
    rows = (
        f"{dataset}\t{prop}\t{value}\n"
        for dataset, values in _datasets(pool, mounted).items()
        for prop, value in ((prop, values.get(prop, "-")) for prop in wanted)
    )
    return Answer(0, "".join(rows))


def _datasets(pool: Pool, mounted: set[str]) -> dict[str, dict[str, str]]:
    described: dict[str, dict[str, str]] = {pool.name: {}, **pool.datasets}
    return {
        name: {**DEFAULTS, "mountpoint": f"/{name}", "mounted": "yes" if name in mounted else "no", **values}
        for name, values in sorted(described.items())
    }
