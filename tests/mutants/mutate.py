"""Small wrong versions of a module, one change each: the mistakes that would let something pass that must not.

What is only words, types or looks is left alone; every other mutant changes what the code does or is equal to it by luck.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass

Change = tuple[str, Callable[[ast.expr], ast.AST]]

_NEGATED = {
    **{ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt},
    **{ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is},
}
_AT_THE_EDGE = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
_CALLS = {"refuse": "ok", "unknown": "ok", "ok": "refuse", "any": "all", "all": "any", "min": "max", "max": "min"}
_WORDS = {"pass": "refuse", "refuse": "pass", "unknown": "pass"}


@dataclass(frozen=True)
class Mutant:
    line: int
    what: str
    number: int  # which node of the tree, in the order of `ast.walk`
    change: Callable[[ast.expr], ast.AST]

    def code(self, source: str, path: str):
        tree = ast.parse(source)
        node = list(ast.walk(tree))[self.number]
        made = _Swap(node, ast.copy_location(self.change(copy.deepcopy(node)), node)).visit(tree)
        return compile(ast.fix_missing_locations(made), path, "exec")


class _Swap(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.old else super().visit(node)


def mutants(source: str) -> list[Mutant]:
    tree = ast.parse(source)
    spared = {id(part) for node in ast.walk(tree) for part in _spared(node)}
    found = []
    for number, node in enumerate(ast.walk(tree)):
        if id(node) not in spared:
            found += [Mutant(_line(node), what, number, change) for what, change in _changes(node)]
    return sorted(found, key=lambda mutant: (mutant.line, mutant.number))


def _line(node: ast.AST) -> int:
    return node.ifs[0].lineno if isinstance(node, ast.comprehension) else getattr(node, "lineno", 0)


def _spared(node: ast.AST) -> Iterator[ast.AST]:
    """Annotations, decorators, docstrings, parts of texts, and what a module merely lists."""
    parts: list[ast.AST | None] = []
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        parts += [*node.decorator_list, getattr(node, "returns", None)]
    if isinstance(node, (ast.arg, ast.AnnAssign)):
        parts.append(node.annotation)
    if isinstance(node, ast.JoinedStr):
        parts += node.values
    if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets):
        parts.append(node.value)
    if isinstance(node, ast.Subscript):
        parts.append(node.slice)
    for part in filter(None, parts):
        yield from ast.walk(part)


def _changes(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, (ast.If, ast.IfExp)):
        yield "the condition never holds", lambda it: _with(it, test=ast.Constant(False))
        yield "the condition always holds", lambda it: _with(it, test=ast.Constant(True))
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        yield from _compared(node)
    elif isinstance(node, ast.BoolOp):
        yield "and is or", lambda it: _with(it, op=ast.Or() if isinstance(it.op, ast.And) else ast.And())
        for i in range(len(node.values)):
            yield f"without operand {i + 1}", lambda it, i=i: _without(it, "values", i)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "not is left out", lambda it: it.operand
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _CALLS and node.args:
        yield f"{node.func.id} is {_CALLS[node.func.id]}", lambda it: _with(it, func=ast.Name(_CALLS[it.func.id], ast.Load()))
    elif isinstance(node, (ast.Tuple, ast.List, ast.Set)) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
        yield from _shortened(node)
    elif isinstance(node, ast.Constant):
        yield from _other(node.value)
    elif isinstance(node, ast.comprehension) and node.ifs:
        yield "nothing is filtered out", lambda it: _with(it, ifs=[])


def _compared(node: ast.Compare) -> Iterator[Change]:
    kind = type(node.ops[0])
    yield f"{kind.__name__} is {_NEGATED[kind].__name__}", lambda it: _with(it, ops=[_NEGATED[type(it.ops[0])]()])
    if kind in _AT_THE_EDGE:
        yield f"{kind.__name__} is {_AT_THE_EDGE[kind].__name__}", lambda it: _with(it, ops=[_AT_THE_EDGE[type(it.ops[0])]()])


def _shortened(node: ast.Tuple | ast.List | ast.Set) -> Iterator[Change]:
    """Only lists of things that do something: guards, steps, questions."""
    for i, item in enumerate(node.elts):
        if isinstance(item, (ast.Name, ast.Starred, ast.Call)) or (isinstance(item, ast.Constant) and len(node.elts) > 2):
            yield f"without {ast.unparse(item)[:60]}", lambda it, i=i: _without(it, "elts", i)


def _other(value: object) -> Iterator[Change]:
    if isinstance(value, bool):
        yield f"{value} is {not value}", lambda it: ast.Constant(not it.value)
    elif isinstance(value, int):
        yield f"{value} is {value + 1}", lambda it: ast.Constant(it.value + 1)
    elif isinstance(value, str) and value in _WORDS:
        yield f"{value!r} is {_WORDS[value]!r}", lambda it: ast.Constant(_WORDS[it.value])


def _with(node, **parts) -> ast.AST:
    for name, part in parts.items():
        setattr(node, name, part)
    return node


def _without(node, name: str, index: int) -> ast.AST:
    kept = [item for i, item in enumerate(getattr(node, name)) if i != index]
    if isinstance(node, ast.BoolOp) and len(kept) == 1:
        return kept[0]
    if isinstance(node, ast.Set) and not kept:
        return ast.Call(ast.Name("set", ast.Load()), [], [])
    return _with(node, **{name: kept})
