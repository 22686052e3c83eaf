"""Triage by paste, through the API: the outputs of a node without an agent go in, and one JSON object says what is so. Nothing is kept."""

from typing import Annotated, Any

from ninja import Field, Router, Schema
from pydantic import StringConstraints

from app.api.auth import Scoped, TokenRequest
from app.api.problems import Problem
from app.api.scopes import READ
from app.api.words import answers
from app.core.limits import MIB, PASTE_BYTES_MAX, too_large
from app.fleet import triage_process
from confined import Stopped

router = Router(tags=["triage"])
RETRY_SECONDS = 10
TEXTS_MAX = 1000


class TextIn(Schema):
    name: Annotated[str, StringConstraints(min_length=1, max_length=300)] = Field(description="What the answer calls it: a file's name")
    text: str = Field(description="Outputs as a terminal showed them, one or many, with or without their prompts")


class TriageIn(Schema):
    texts: Annotated[list[TextIn], Field(min_length=1, max_length=TEXTS_MAX, description="All of one node")]


class ErrorOut(Schema):
    why: str
    text: str


class TriageOut(Schema):
    version: int
    texts: list[dict[str, Any]] = Field(description="What became of each output: read, partly or refused, with the reason")
    other_lines: list[dict[str, Any]] = Field(description="Lines that are no output: prose, headings, a command line with nothing below it")
    pools: list[dict[str, Any]]
    disks: list[dict[str, Any]]
    situations: list[dict[str, Any]]
    unexplained: list[dict[str, Any]] = Field(description="Words and lines that are not known to be good and that no situation explains")
    good: bool = Field(description="Everything that was pasted was read and is positively good")
    not_good_because: list[str]
    not_looked_at: list[str] = Field(description="What the texts do not cover")
    error: ErrorOut | None


@router.post("/triage", response=answers(TriageOut), auth=Scoped(READ), url_name="api-triage")
def triage(request: TokenRequest, asked: TriageIn) -> dict[str, Any]:
    """Read pasted outputs. The shape of the answer stands in the guide, under "Triage for programs"."""
    texts = [(one.name, one.text.encode("utf-8", "backslashreplace")) for one in asked.texts]
    if sum(len(content) for _, content in texts) > PASTE_BYTES_MAX:
        raise Problem("too-large", f"The texts have more than {PASTE_BYTES_MAX // MIB} MiB together. {too_large(request.path)}")
    try:
        return triage_process.run(triage_process.as_json, texts)
    except triage_process.Busy as busy:
        raise Problem("busy", str(busy), headers={"Retry-After": str(RETRY_SECONDS)}) from None
    except Stopped as stopped:
        raise Problem("stopped", str(stopped)) from None
