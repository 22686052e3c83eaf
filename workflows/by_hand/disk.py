"""A disk that a command by hand rests on."""

from dataclasses import dataclass

ANY, NONE = "any", "none"


@dataclass(frozen=True)
class Disk:
    """A disk by its LU name. `label`: guid of the member whose label it carries, NONE where it must carry none, ANY where that is not asked."""

    path: str
    wwid: str
    label: str
