"""Triage by paste, as a page: outputs of a node without an agent go in, situations come out.

Nothing of it is kept, unless its reader asks for that: then the texts become evidence, and the ledger says who kept them.
"""

from django import forms
from django.contrib.auth.decorators import login_required
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from app.accounts.rights import OPERATE, may_somewhere
from app.fleet import rows
from app.fleet.severity import SEVERITY_TONES, SEVERITY_WORDS, margin, rank
from app.ledger import services as ledger
from workflows.core import Situation
from workflows.facts import known
from workflows.runbooks import RUNBOOKS
from workflows.triage import NAMELESS, Triage, decoded, manuals, triage

TEXT_BYTES_MAX = 7 * 1024 * 1024  # settings.DATA_UPLOAD_MAX_MEMORY_SIZE refuses a longer form; files may be longer
AROUND = 2  # lines before and after one that is shown from the paste
SHOWN_MAX = 60  # lines of the paste for one situation
FILES_BYTES_MAX = 16 * 1024 * 1024
OUTCOME_TONES = {"read": "good", "not read": "watch", "left out": "idle"}


class Files(forms.ClearableFileInput):
    allow_multiple_selected = True


class TriageForm(forms.Form):
    text = forms.CharField(
        label="Outputs, with or without their prompts",
        required=False,
        strip=False,
        max_length=TEXT_BYTES_MAX,
        widget=forms.Textarea(attrs={"rows": 14, "class": "form-control sl-mono", "spellcheck": "false", "wrap": "off"}),
    )
    files = forms.Field(label="or files", required=False, widget=Files(attrs={"multiple": True, "class": "form-control"}))

    def clean(self) -> dict:
        cleaned = super().clean()
        files = self.files.getlist("files")
        if sum(file.size or 0 for file in files) > FILES_BYTES_MAX:
            raise forms.ValidationError(f"The files have more than {FILES_BYTES_MAX // 1024 // 1024} MiB together. Give those of one node.")
        if not files and not (cleaned.get("text") or "").strip():
            raise forms.ValidationError("There is nothing to read yet. Paste an output, or choose a file.")
        return cleaned

    def texts(self) -> list[tuple[str, str]]:
        pasted = self.cleaned_data.get("text") or ""
        return ([("what was pasted", pasted)] if pasted.strip() else []) + [_of_file(file) for file in self.files.getlist("files")]


def _of_file(file: UploadedFile) -> tuple[str, str]:
    return file.name or "a file", decoded(file.read())


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def page(request: HttpRequest) -> HttpResponse:
    form = TriageForm(request.POST or None, request.FILES or None) if request.method == "POST" else TriageForm()
    context = {"section": "triage", "form": form}
    if request.method != "POST":
        return render(request, "fleet/triage.html", context)
    if not form.is_valid():
        return render(request, "fleet/triage.html", context, status=422)
    texts = form.texts()
    found = triage(texts)
    kept = _kept(request, texts, found) if "keep" in request.POST else {}
    return render(request, "fleet/triage.html", context | _answer(found) | kept)


def _kept(request: HttpRequest, texts: list[tuple[str, str]], found: Triage) -> dict:
    """Make what was pasted evidence, and record who did. Says why not where it cannot be."""
    if not may_somewhere(request.user, OPERATE):
        return {"not_kept": "Keeping evidence needs the operator's right. Nothing was kept."}
    nodes = ", ".join(found.fleet.nodes)
    try:
        ledger.refuse_if_broken()
        with transaction.atomic():
            kept = [(name, ledger.keep(text.encode("utf-8", "backslashreplace"), "text/plain")) for name, text in texts]
            body = {"texts": [{"name": name, "digest": digest} for name, digest in kept], "nodes": nodes}
            body |= {"title": nodes or "nothing that could be read", "situations": [situation.key for situation in found.situations]}
            ledger.record("triage.kept", body, request.user.get_username())
    except ledger.LedgerDown as down:
        return {"not_kept": str(down)}
    return {"kept": kept}


def _answer(found: Triage) -> dict:
    situations = sorted(found.situations, key=lambda s: (rank(s.severity), margin(s, found.fleet)))
    return {
        "answered": True,
        "understood": found.understood,
        "situations": [_voiced(situation, found) for situation in situations],
        "more": [{"node": node, "commands": commands} for node in _asked_of(found) if (commands := found.missing(node))],
        "nodes": [
            {"name": name, "pools": rows.pool_rows(facts), "pools_unknown": rows.why_unknown(facts.pools), "disks": _disks(facts)}
            for name, facts in found.fleet.nodes.items()
        ],
        "reads": [{"read": read, "tone": OUTCOME_TONES[read.outcome]} for read in found.reads],
    }


def _asked_of(found: Triage) -> list[str]:
    return list(found.fleet.nodes) or [NAMELESS]


def _voiced(situation: Situation, found: Triage) -> dict:
    pages = [RUNBOOKS[slug] for slug in manuals(situation)]
    voice = {"tone": SEVERITY_TONES[situation.severity], "urgency": SEVERITY_WORDS[situation.severity]}
    return {"is": situation, "manuals": pages, "shown": _shown(situation, found), **voice}


def _shown(situation: Situation, found: Triage) -> list[dict]:
    """The lines it was read from with some around them, as they were pasted. `apart` begins a stretch that does not follow the one before."""
    marked = {(mark.name, mark.line) for mark in found.marks(situation)}
    near = sorted({(name, line + step) for name, line in marked for step in range(-AROUND, AROUND + 1)})
    shown, before = [], ("", 0)
    for name, number in near[:SHOWN_MAX]:
        if 0 < number <= len(found.lines[name]):
            apart = bool(shown) and before != (name, number - 1)
            shown.append(
                {"name": name, "number": number, "text": found.lines[name][number - 1], "hit": (name, number) in marked, "apart": apart}
            )
            before = (name, number)
    return shown


def _disks(facts) -> str:
    return f"{len(facts.disks)} disks" if known(facts.disks) else "disks not known"
