"""A small file system in memory: directories, files and links, with the lookups `Host` promises."""

import errno
import fnmatch
from collections.abc import Iterator

LINKS_MAX = 40  # as Linux: a chain longer than this is a loop


class Link(str):
    """The absolute path a link leads to."""


Content = dict[str, "Entry"] | bytes
Entry = Content | Link


class Tree:
    def __init__(self) -> None:
        self.root: dict[str, Entry] = {}
        self._resolved: dict[str, tuple[str, Content]] = {}  # by path, until something is added
        self._globbed: dict[str, tuple[str, ...]] = {}  # by pattern, as long
        self._folders: dict[str, dict[str, Entry]] = {}  # by path, until one is replaced: thousands of files go into a few hundred folders

    def directory(self, path: str) -> dict[str, Entry]:
        self._resolved.clear()
        self._globbed.clear()
        found = self._folders.get(path)
        if found is None:
            found = self._folders[path] = self._made(path)
        return found

    def _made(self, path: str) -> dict[str, Entry]:
        here = self.root
        for part in _parts(path):
            below = here.setdefault(part, {})
            if not isinstance(below, dict):
                raise NotADirectoryError(errno.ENOTDIR, "Not a directory", path)
            here = below
        return here

    def file(self, path: str, content: str | bytes) -> None:
        self._put(path, content.encode("utf-8") if isinstance(content, str) else content)

    def link(self, path: str, target: str) -> None:
        self._put(path, Link(target))

    def _put(self, path: str, entry: bytes | Link) -> None:
        folder, _, name = path.rpartition("/")
        here = self.directory(folder)
        if isinstance(here.get(name), dict):
            self._folders.clear()  # what was a folder is none any more, and neither are those below it
        here[name] = entry

    def read(self, path: str) -> bytes:
        _, entry = self.resolve(path)
        if isinstance(entry, dict):
            raise IsADirectoryError(errno.EISDIR, "Is a directory", path)
        return entry

    def resolve(self, path: str) -> tuple[str, Content]:
        """The real path of `path` and what is there, all links followed. Raises FileNotFoundError."""
        found = self._resolved.get(path) or self._follow("".join(f"/{part}" for part in _parts(path)), LINKS_MAX)
        if found is None:
            raise FileNotFoundError(errno.ENOENT, "No such file or directory", path)
        return found[0] or "/", found[1]

    def _follow(self, path: str, links_left: int) -> tuple[str, Content] | None:
        """What `resolve` returns, with "" for the root; None where nothing is. `path` has no slash too many."""
        if not path:
            return "", self.root
        if path in self._resolved:
            return self._resolved[path]
        folder, _, name = path.rpartition("/")
        above = self._follow(folder, links_left)
        if above is None or not isinstance(above[1], dict) or name not in above[1]:
            return None
        entry = above[1][name]
        if isinstance(entry, Link):
            found = self._follow("".join(f"/{part}" for part in _parts(entry)), links_left - 1) if links_left else None
        else:
            found = f"{above[0]}/{name}", entry
        if found is not None:
            self._resolved[path] = found
        return found

    def glob(self, pattern: str) -> tuple[str, ...]:
        """Paths that match, sorted. As with a shell's glob, `*` does not cross a slash and a link that dangles counts."""
        found = self._globbed.get(pattern)
        if found is None:
            parts = _parts(pattern)
            plain = next((place for place, part in enumerate(parts) if _is_magic(part)), len(parts) - 1)
            above = "".join(f"/{part}" for part in parts[:plain])
            found = self._globbed[pattern] = tuple(sorted(self._match(above, parts[plain:])))
        return found

    def _match(self, here: str, parts: list[str]) -> Iterator[str]:
        found = self._follow(here, LINKS_MAX)
        if found is None or not isinstance(found[1], dict):
            return
        names = found[1]
        first, rest = parts[0], parts[1:]
        for name in fnmatch.filter(names, first) if _is_magic(first) else [first] * (first in names):
            path = f"{here}/{name}"
            if rest:
                yield from self._match(path, rest)
            else:
                yield path


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part]


def _is_magic(part: str) -> bool:
    return any(c in part for c in "*?[")
