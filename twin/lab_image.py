"""What the lab's image of a series of OpenZFS has beside OpenZFS, as far as the answers of a node rest on it. The one table of it in the twin."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Image:
    """As the kept scenes of the series met it (`lab/recipe.py` makes it)."""

    kernel: str  # `uname -r`
    kernel_build: str  # `uname -v`
    sg3_rules: bool = False  # udev has the rules of sg3-utils, which came with multipath-tools; the scenes of 2.1, 2.3 and 2.4 are older
    bays_known: bool = True  # the kernel links each disk to its bay. Linux 5.10 did not there; why is not known, its shelf was attached


BULLSEYE = Image("5.10.0-32-amd64", "#1 SMP Debian 5.10.223-1 (2024-08-10)", sg3_rules=True, bays_known=False)
BOOKWORM = Image("6.1.0-50-amd64", "#1 SMP PREEMPT_DYNAMIC Debian 6.1.176-1 (2026-07-02)")
BOOKWORM_NOW = Image(BOOKWORM.kernel, BOOKWORM.kernel_build, sg3_rules=True)
TRIXIE = Image("6.12.117+deb13-amd64", "#1 SMP PREEMPT_DYNAMIC Debian 6.12.117-1 (2026-11-12)")
OF_SERIES = {"2.0": BULLSEYE, "2.1": BOOKWORM, "2.2": BOOKWORM_NOW, "2.3": BOOKWORM, "2.4": TRIXIE}


def image_of(release: str) -> Image:
    """Of "2.0.3-1". A series that the lab has no image of is played on bookworm."""
    return OF_SERIES.get(".".join(release.split(".")[:2]), BOOKWORM)
