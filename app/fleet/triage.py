"""Triage by paste, as a page: outputs of a node without an agent go in, situations come out. Nothing of it is kept."""

from django import forms
from django.contrib.auth.decorators import login_required
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from agents.collectors.base import decode
from app.fleet import rows
from app.fleet.severity import SEVERITY_ORDER, SEVERITY_TONES, SEVERITY_WORDS
from workflows.core import Situation
from workflows.facts import known
from workflows.triage import Triage, triage

TEXT_BYTES_MAX = 2 * 1024 * 1024  # Django refuses a longer form field; files may be longer
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
    return file.name or "a file", decode(file.read())


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def page(request: HttpRequest) -> HttpResponse:
    form = TriageForm(request.POST or None, request.FILES or None) if request.method == "POST" else TriageForm()
    context = {"section": "triage", "form": form}
    if request.method != "POST":
        return render(request, "fleet/triage.html", context)
    if not form.is_valid():
        return render(request, "fleet/triage.html", context, status=422)
    return render(request, "fleet/triage.html", context | _answer(triage(form.texts())))


def _answer(found: Triage) -> dict:
    situations = sorted(found.situations, key=lambda s: SEVERITY_ORDER.index(s.severity))
    return {
        "answered": True,
        "understood": found.understood,
        "situations": [_voiced(situation) for situation in situations],
        "nodes": [
            {"name": name, "pools": rows.pool_rows(facts), "pools_unknown": rows.why_unknown(facts.pools), "disks": _disks(facts)}
            for name, facts in found.fleet.nodes.items()
        ],
        "reads": [{"read": read, "tone": OUTCOME_TONES[read.outcome]} for read in found.reads],
    }


def _voiced(situation: Situation) -> dict:
    return {"is": situation, "tone": SEVERITY_TONES[situation.severity], "urgency": SEVERITY_WORDS[situation.severity]}


def _disks(facts) -> str:
    return f"{len(facts.disks)} disks" if known(facts.disks) else "disks not known"
