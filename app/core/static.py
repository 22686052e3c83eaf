"""Static files: what is collected, under which name, compressed once so that no request pays for it."""

from django.contrib.staticfiles.apps import StaticFilesConfig
from whitenoise.storage import CompressedManifestStaticFilesStorage


class StaticConfig(StaticFilesConfig):
    """Leaves out what no page loads: right-to-left styles, htmx 4 and its extensions, unminified sources."""

    ignore_patterns = [*StaticFilesConfig.ignore_patterns, "*.rtl.*", "*-4.js", "*-4.min.js", "htmx-2.js", "hx-*-2.js", "hx-ws-*"]


class Storage(CompressedManifestStaticFilesStorage):
    """File names carry a digest of the content, and source maps, which Tabler names but does not ship, are not looked for."""

    patterns = tuple(
        (glob, tuple(pattern for pattern in patterns if "sourceMappingURL" not in str(pattern)))
        for glob, patterns in CompressedManifestStaticFilesStorage.patterns
    )
