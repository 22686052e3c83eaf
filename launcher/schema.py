"""What the database schema is made from. Where nothing of it changed, no migration is run."""

from pathlib import Path


def schema_files(root: Path) -> tuple[Path, ...]:
    """Every file that can change what `migrate` does, in a fixed order."""
    made = ("app/**/migrations/*", "app/**/models*.py", "app/**/models/*.py", "app/**/apps.py", "app/**/*.sql", "app/settings.py")
    # What runs after every migration; a test fails if one is missing.
    after = ("app/fleet/situations.py", "app/fleet/ingest/related_nodes.py", "app/ledger/grants.py")
    found = {path for pattern in made + after for path in root.glob(pattern) if path.is_file() and path.suffix in {".py", ".sql"}}
    return (*sorted(found), root / "launcher" / "roles.sql", root / "requirements.lock")
