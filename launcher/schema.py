"""What the database schema is made from. Who knows that nothing of it changed need not migrate."""

from pathlib import Path


def schema_files(root: Path) -> tuple[Path, ...]:
    """Every file that can change what `migrate` does, in a fixed order."""
    patterns = ("app/**/migrations/*", "app/**/models*.py", "app/**/models/*.py", "app/**/apps.py", "app/**/*.sql", "app/settings.py")
    found = {path for pattern in patterns for path in root.glob(pattern) if path.is_file() and path.suffix in {".py", ".sql"}}
    return (*sorted(found), root / "launcher" / "roles.sql", root / "requirements.lock")
