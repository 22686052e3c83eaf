"""What `docker-compose.yml` and the `Dockerfile` say, as processes: command, environment, order and health check of each service."""

import json
import re
from graphlib import TopologicalSorter

import yaml

from launcher.bootstrap import ROOT

PORT = "8000"


class Recipe:
    def __init__(self, given: dict[str, str]) -> None:
        """`given` is what stands in the .env file beside it."""
        self._given = given
        self._file = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
        self._image = (ROOT / "Dockerfile").read_text()
        self.services = self._file["services"]

    def ours(self) -> list[str]:
        """The services that run the image, each after those it depends on."""
        graph = {name: service.get("depends_on", {}) for name, service in self.services.items()}
        return [
            name for name in TopologicalSorter(graph).static_order() if self.services[name].get("image") == self._file["x-portal"]["image"]
        ]

    def ends(self, name: str) -> bool:
        """Whether others wait for its end, not for its beginning."""
        waits = [service.get("depends_on", {}).get(name, {}).get("condition") for service in self.services.values()]
        return "service_completed_successfully" in waits

    def command(self, name: str) -> list[str]:
        return self.services[name].get("command") or json.loads(re.findall(r"^CMD (\[.*\])$", self._image, re.MULTILINE)[-1])

    def built(self) -> list[str]:
        """How the image collects the static files."""
        return re.search(r"\bpython (manage\.py collectstatic [^\\\n]*?)\s*\\?$", self._image, re.MULTILINE)[1].split()

    def environment(self, name: str) -> dict[str, str]:
        image = re.findall(r"^ENV (.+)$", self._image, re.MULTILINE)
        kept = dict(pair.split("=", 1) for line in image for pair in line.split())
        kept = {key: self._built_with(name, value) for key, value in kept.items()}
        return kept | {key: self._filled(value) for key, value in self.services[name].get("environment", {}).items()}

    def _built_with(self, name: str, value: str) -> str:
        """What the image keeps of a build argument, `$NAME` in the Dockerfile."""
        return self._filled(self.services[name]["build"]["args"][value[1:]]) if value.startswith("$") else value

    def health(self, name: str) -> list[str]:
        kind, *words = self.services[name]["healthcheck"]["test"]
        assert kind == "CMD"
        return words

    def _filled(self, text: str) -> str:
        """As compose fills it in: ${NAME}, ${NAME:-otherwise}, ${NAME:?why it must be there}."""

        def value(found: re.Match) -> str:
            name, how, more = found.groups()
            assert how != ":?" or self._given.get(name), f"{name}: {more}"
            return self._given.get(name) or (more if how == ":-" else "")

        return re.sub(r"\$\{(\w+)(?:(:-|:\?)([^}]*))?\}", value, str(text))
