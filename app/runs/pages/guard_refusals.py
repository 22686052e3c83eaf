"""What a guard says when it does not pass, read from the guard itself: the words of its `refuse`, `unknown` and `need`, and of the functions it asks.

What is only known in a case stands as "…"; a sentence of which nothing else is left is left out.
"""

import ast
import inspect
import re
import textwrap
from collections.abc import Callable
from functools import cache
from typing import Any

from workflows.engine.core import Guard, Warns

AGAINST, NEED = ("refuse", "unknown"), "need"
_WORD = re.compile("[a-z]{2}", re.IGNORECASE)
DEPTH_MAX = 3  # a guard that asks a function that asks another


def of(guard: Guard | Warns) -> tuple[str, ...]:
    """Every sentence, once, in the order in which the guard asks."""
    return tuple(dict.fromkeys(text for text in _of(inspect.unwrap(guard), DEPTH_MAX) if _WORD.search(text)))


@cache
def _of(function: Callable[..., Any], depth: int) -> tuple[str, ...]:
    found: list[str] = []
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):  # a lambda within an expression, or made without a source
        return ()
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    for node in sorted(calls, key=lambda call: (call.lineno, call.col_offset)):
        if not isinstance(node.func, ast.Name):
            continue
        if node.func.id in AGAINST and node.args:
            found += filter(None, [_text(node.args[0])])
        elif node.func.id == NEED and len(node.args) > 1:
            found.append(f"{_text(node.args[1])}: …")
        elif depth and (other := _asked(function, node.func.id)) is not None:
            found += _of(other, depth - 1)
    return tuple(found)


def _asked(function: Callable[..., Any], name: str) -> Callable[..., Any] | None:
    """A function of our own that this one can see; one that gives verdicts is worth reading."""
    seen = {**getattr(function, "__globals__", {}), **inspect.getclosurevars(function).nonlocals}
    other = inspect.unwrap(seen[name]) if inspect.isfunction(seen.get(name)) else None
    ours = inspect.isfunction(other) and other.__module__.startswith("workflows.") and other is not function
    return other if ours and "Verdict" in str(other.__annotations__.get("return", "")) else None


def _text(node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
    if isinstance(node, ast.IfExp):
        return " / ".join(filter(None, (_text(node.body), _text(node.orelse))))
    return ""
