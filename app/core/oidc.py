"""What the environment says of an OpenID Connect provider, in the form that django-allauth reads, and which groups there mean which role here."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PROVIDER = "sso"
ROLES = ("viewer", "technician", "operator", "approver", "glass-breaker", "admin")
ROLE = re.compile(r"(?P<group>[^=]+)=(?P<role>[a-z-]+)(?:@(?P<team>.{1,63}))?")


def providers(environ: Mapping[str, str]) -> dict[str, Any]:
    """`SOCIALACCOUNT_PROVIDERS`: one provider, or none. The secret comes from a file, so that no list of processes shows it."""
    issuer = environ.get("SLOTLIGHT_OIDC_ISSUER", "")
    if not issuer:
        return {}
    app = {
        "provider_id": PROVIDER,
        "name": environ.get("SLOTLIGHT_OIDC_NAME", "single sign-on"),
        "client_id": environ["SLOTLIGHT_OIDC_CLIENT_ID"],
        "secret": Path(environ["SLOTLIGHT_OIDC_SECRET_FILE"]).read_text().strip(),
        "settings": {
            "server_url": issuer.rstrip("/"),
            "issuer": issuer,
            "oauth_pkce_enabled": True,
            "scope": environ.get("SLOTLIGHT_OIDC_SCOPES", "openid profile").split(),
            "groups_claim": environ.get("SLOTLIGHT_OIDC_GROUPS_CLAIM", "groups"),
        },
    }
    return {"openid_connect": {"APPS": [app]}}


def roles(text: str) -> dict[str, tuple[tuple[str, str], ...]]:
    """SLOTLIGHT_OIDC_ROLES, "oncall=operator@storage, leads=approver": group -> (role, team) of each; no team is the whole fleet."""
    found: dict[str, tuple[tuple[str, str], ...]] = {}
    for part in filter(None, (each.strip() for each in text.split(","))):
        match = ROLE.fullmatch(part)
        if match is None or match["role"] not in ROLES:
            raise ValueError(
                f"SLOTLIGHT_OIDC_ROLES says {part!r}. Each part is group=role or group=role@team; roles are {', '.join(ROLES)}."
            )
        found[match["group"]] = (*found.get(match["group"], ()), (match["role"], match["team"] or ""))
    return found
