"""Texts made of whole lines. One whose last line has no end was torn, and the number it ends in may be half of another."""

from __future__ import annotations

from agents.collectors.base import Unparsed


def whole_lines(text: str) -> list[str] | Unparsed:
    """The lines of `text`; none of an empty one."""
    torn = torn_end(text)
    if torn is not None:
        return torn
    return text[:-1].split("\n") if text else []


def torn_end(text: str) -> Unparsed | None:
    """Why the last line cannot be trusted; None when it has its end."""
    if not text or text.endswith("\n"):
        return None
    return Unparsed("the text ends in the middle of a line", text.rsplit("\n", 1)[-1][-200:])


def decimal(text: str, digits: int = 20) -> int | None:
    """A whole number as `printf %llu` writes it, else None. "1.2K" and "²" are none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= digits else None


def hexadecimal(text: str) -> int | None:
    """A number as `printf 0x%llx` writes it, else None."""
    digits = text[2:] if text.startswith("0x") else ""
    known = 0 < len(digits) <= 16 and all(letter in "0123456789abcdef" for letter in digits)
    return int(digits, 16) if known else None


def newest(lines: list[str], heading: int, kept: int) -> list[str]:
    """The first `heading` lines and the last `kept`, for a table that grows at its end."""
    return lines if len(lines) <= heading + kept else [*lines[:heading], *lines[-kept:]]
