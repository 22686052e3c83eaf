"""`./run manage runbook_docs`: write docs/runbooks/ from the definitions; with --check only say which pages are behind."""

from django.core.management.base import BaseCommand, CommandError, CommandParser

from app.runs.pages import runbook_markdown


class Command(BaseCommand):
    help = "Write docs/runbooks/ from the definitions of the runbooks."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--check", action="store_true", help="write nothing; fail when a page is not what its runbook gives")

    def handle(self, *args: object, **options: object) -> None:
        if options["check"]:
            if behind := runbook_markdown.behind():
                raise CommandError(f"Behind: {', '.join(behind)}. Run `./run manage runbook_docs` and commit what it writes.")
            return
        for name in runbook_markdown.write():
            self.stdout.write(f"docs/runbooks/{name}")
