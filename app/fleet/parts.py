"""Finding a disk by a part of its WWID or serial number, as it stands on a sticker or came through the phone.

Each disk's row holds every run of four characters in them, under an index. What is looked for has its own runs: a disk that holds
them all is looked at, and no other. PostgreSQL needs no extension for that.
"""

from collections.abc import Iterable

RUN = 4  # characters: what is shorter names too many disks


def parts_of(texts: Iterable[str]) -> list[str]:
    return sorted({part for text in texts for part in runs(text)})


def runs(text: str) -> set[str]:
    """Every run of characters in it, without regard to case."""
    text = text.lower()
    return {text[at : at + RUN] for at in range(len(text) - RUN + 1)}
