"""What a record is, how it is kept in readable files, and what two of them differ in, in words.

A record is {group: {section: {name: value}}}; `Texts` is {group: {name: sentences}}. A file of a group lists, by section, each value once
with all names that have it, so that a thousand guards that answer alike take one line.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

Section = dict[str, str]
Group = dict[str, Section]
Record = dict[str, Group]
Texts = dict[str, dict[str, set[str]]]

KEPT = Path(__file__).with_name("kept")
BETWEEN, IS = " & ", " = "


def add(record: Record, more: Mapping[str, Mapping[str, Mapping[str, str]]]) -> None:
    for group, sections in more.items():
        for section, values in sections.items():
            there = record.setdefault(group, {}).setdefault(section, {})
            if twice := there.keys() & values.keys():
                raise ValueError(f"{group}, {section}: {sorted(twice)} is recorded twice")
            there.update(values)


def add_texts(texts: Texts, more: Mapping[str, Mapping[str, Iterable[str]]]) -> None:
    for group, names in more.items():
        for name, sentences in names.items():
            texts.setdefault(group, {}).setdefault(name, set()).update(sentences)


# --- files


def written(group: Group) -> str:
    lines = []
    for section, values in sorted(group.items()):
        by_value: dict[str, list[str]] = {}
        for name, value in sorted(values.items()):
            _refuse(name, value)
            by_value.setdefault(value, []).append(name)
        lines += [f"## {section}", *(f"{BETWEEN.join(names)}{IS}{value}" for value, names in by_value.items())]
    return "\n".join(lines) + "\n"


def _refuse(name: str, value: str) -> None:
    if BETWEEN in name or IS in name or "\n" in name + value or name.startswith("## "):
        raise ValueError(f"{name!r} = {value!r} cannot be written in one line")


def read(text: str) -> Group:
    group: Group = {}
    for line in text.rstrip("\n").split("\n"):
        if line.startswith("## "):
            section = group.setdefault(line[3:], {})
        else:
            names, _, value = line.partition(IS)
            section.update(dict.fromkeys(names.split(BETWEEN), value))
    return group


def written_texts(names: Mapping[str, set[str]]) -> str:
    lines = (line for name, sentences in sorted(names.items()) for line in (f"## {name}", *sorted(map(_one_line, sentences))))
    return "\n".join(lines) + "\n"


def _one_line(sentence: str) -> str:
    return json.dumps(sentence, ensure_ascii=False)[1:-1]


def read_texts(text: str) -> dict[str, set[str]]:
    names: dict[str, set[str]] = {}
    for line in text.rstrip("\n").split("\n"):
        if line.startswith("## "):
            here = names.setdefault(line[3:], set())
        else:
            here.add(json.loads(f'"{line}"'))
    return names


def keep(record: Record, texts: Texts) -> list[Path]:
    KEPT.mkdir(exist_ok=True)
    files = {KEPT / f"{group}.txt": written(sections) for group, sections in record.items()}
    files |= {KEPT / f"{group}.texts.txt": written_texts(names) for group, names in texts.items()}
    for path, text in files.items():
        path.write_text(text)
    return sorted(files)


def kept(group: str) -> Group:
    path = KEPT / f"{group}.txt"
    return read(path.read_text()) if path.exists() else {}


def kept_texts(group: str) -> dict[str, set[str]]:
    path = KEPT / f"{group}.texts.txt"
    return read_texts(path.read_text()) if path.exists() else {}


# --- differences


def differences(group: str, before: Group, now: Group) -> Iterator[str]:
    """One sentence for each thing that is not as it was."""
    for section in sorted(before.keys() | now.keys()):
        if section not in now or section not in before:
            yield f"{group}: {section} is {'new' if section in now else 'gone'}."
            continue
        was, is_ = before[section], now[section]
        for name in sorted(was.keys() | is_.keys()):
            if name not in is_ or name not in was:
                yield f"{group}: {section}, {name} is {'new' if name in is_ else 'gone'}."
            elif was[name] != is_[name]:
                yield from (f"{group}: {section}, {name}{what}." for what in _changed(was[name], is_[name]))


def _changed(was: str, is_: str) -> Iterator[str]:
    """Of an answer with conditions each condition that matters; of anything else both values."""
    before, now = conditions(was), conditions(is_)
    if not before or not now:
        yield f": was {was}, is {is_}"
        return
    every = sorted(before.keys() | now.keys())
    before, now = ({condition: found.get(condition, found[""]) for condition in every} for found in (before, now))
    other = {condition for condition in every if _outcome(before[condition]) != _outcome(now[condition])}
    for condition in every:
        if condition in other or _alike(condition, before) - other != _alike(condition, now) - other:
            yield f"{f', without {condition}' if condition else ''}: was {before[condition]}, is {now[condition]}"


def _outcome(answer: str) -> str:
    return answer.rpartition(" ")[0]


def _alike(condition: str, answers: Mapping[str, str]) -> set[str]:
    """The conditions answered with the same text; its letter alone says nothing, as one text less moves the letters after it."""
    return {other for other, answer in answers.items() if answer == answers[condition]}


ANSWERS = ("pass", "refuse", "unknown")


def conditions(value: str) -> dict[str, str]:
    """`pass a; unknown b: DiskFacts.labels PoolFacts.tops` by condition; "" is what is answered with every fact. {} where it is none."""
    if value.split(" ")[0] not in ANSWERS:
        return {}
    first, *rest = value.split("; ")
    return {"": first} | {name: answer for part in rest for answer, _, names in [part.partition(": ")] for name in names.split(" ")}


def differences_of_texts(group: str, before: Mapping[str, set[str]], now: Mapping[str, set[str]]) -> Iterator[str]:
    for name in sorted(before.keys() | now.keys()):
        was, is_ = before.get(name, set()), now.get(name, set())
        yield from (f"{group}: {name} no longer says: {sentence}" for sentence in sorted(was - is_))
        yield from (f"{group}: {name} now says: {sentence}" for sentence in sorted(is_ - was))
