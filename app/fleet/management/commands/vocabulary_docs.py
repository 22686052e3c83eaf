"""`./run manage vocabulary_docs`: write docs/vocabulary.md from the tables of words; with --check only say whether it is behind."""

from django.core.management.base import BaseCommand, CommandError, CommandParser

from workflows.vocabulary import page


class Command(BaseCommand):
    help = "Write docs/vocabulary.md from the tables in workflows/vocabulary/."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--check", action="store_true", help="write nothing; fail when the page is not what the tables give")

    def handle(self, *args: object, **options: object) -> None:
        if options["check"]:
            if page.PAGE.read_text() != page.text():
                raise CommandError("docs/vocabulary.md is behind. Run `./run manage vocabulary_docs` and commit what it writes.")
            return
        page.PAGE.write_text(page.text())
        self.stdout.write("docs/vocabulary.md")
