"""What a snippet printed, as a person pasted it: read for people. It proves nothing, as anybody can type it."""

import re
from collections.abc import Iterator

_OURS = re.compile(r"slotlight: (.{1,300})")
_ENDED = re.compile(r"ended with exit code ([0-9]{1,3}), nonce ([0-9a-f]{32})")
LINES_MAX = 20


def read(text: str, nonce: str) -> tuple[str, ...]:
    """Sentences: whether it is of this showing, what differed, how it ended."""
    return tuple(_read([found.group(1) for line in text.splitlines() if (found := _OURS.search(line))], nonce))[:LINES_MAX]


def _read(lines: list[str], nonce: str) -> Iterator[str]:
    if not lines:
        yield "It holds no line of the snippet."
        return
    nonces = {line.removeprefix("nonce ") for line in lines if line.startswith("nonce ")}
    yield (
        "It names this showing."
        if nonces == {nonce}
        else "It does not name this showing: it was printed by another snippet, or was changed."
    )
    yield from (f"It says: {line}" for line in lines if line.startswith("DIFFERS: ") or "Nothing was run" in line)
    ended = next((found for line in lines if (found := _ENDED.search(line))), None)
    yield f"It says that the command ended with exit code {ended.group(1)}." if ended else "It does not say that the command ended."
