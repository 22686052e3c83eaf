"""Triage by paste, as a page: outputs of a node without an agent go in, situations come out.

Nothing of it is kept, unless its reader asks for that: then the texts become evidence, and the ledger says who kept them.
The texts are read in a process of its own with limits (`confined/`), because anybody may paste anything.
"""

from typing import Any

from django import forms
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from app.accounts.asking import user_of
from app.accounts.rights import OPERATE, may_somewhere
from app.core.limits import MIB, PASTE_BYTES_MAX
from app.fleet import triage_process
from app.ledger import services as ledger
from confined import Stopped
from workflows.triage import decoded

RETRY_SECONDS = 10


class Files(forms.ClearableFileInput):
    allow_multiple_selected = True


class TriageForm(forms.Form):
    text = forms.CharField(
        label="Outputs, with or without their prompts",
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 14, "class": "form-control sl-mono", "spellcheck": "false", "wrap": "off"}),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["files"] = forms.Field(
            label="or files", required=False, widget=Files(attrs={"multiple": True, "class": "form-control"})
        )

    def clean(self) -> None:
        super().clean()
        files = self.files.getlist("files")
        text = self.cleaned_data.get("text") or ""
        if sum(file.size or 0 for file in files) + len(text.encode("utf-8", "backslashreplace")) > PASTE_BYTES_MAX:
            raise forms.ValidationError(f"This is more than {PASTE_BYTES_MAX // MIB} MiB together. Give the outputs of one node.")
        if not files and not text.strip():
            raise forms.ValidationError("There is nothing to read yet. Paste an output, or choose a file.")

    def texts(self) -> list[tuple[str, bytes]]:
        pasted = self.cleaned_data.get("text") or ""
        typed = [("what was pasted", pasted.encode("utf-8", "backslashreplace"))] if pasted.strip() else []
        return typed + [(file.name or "a file", file.read()) for file in self.files.getlist("files")]


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
    try:
        found = triage_process.run(triage_process.as_page, texts)
    except triage_process.Busy as busy:
        response = render(request, "fleet/triage.html", context | {"stopped": str(busy)}, status=503)
        response.headers["Retry-After"] = str(RETRY_SECONDS)
        return response
    except Stopped as stopped:
        return render(request, "fleet/triage.html", context | {"stopped": str(stopped)}, status=500 if stopped.why == "crash" else 422)
    kept = _kept(request, texts, found["kept_as"]) if "keep" in request.POST else {}
    return render(request, "fleet/triage.html", context | found | kept)


def _kept(request: HttpRequest, texts: list[tuple[str, bytes]], found: dict[str, Any]) -> dict[str, Any]:
    """Make what was pasted evidence, and record who did. Says why not where it cannot be."""
    if not may_somewhere(user_of(request), OPERATE):
        return {"not_kept": "Keeping evidence needs the operator's right. Nothing was kept."}
    try:
        ledger.refuse_if_broken()
        with transaction.atomic():
            kept = [(name, ledger.keep(decoded(raw).encode("utf-8", "backslashreplace"), "text/plain")) for name, raw in texts]
            body = {"texts": [{"name": name, "digest": digest} for name, digest in kept], "nodes": found["nodes"]}
            body |= {"title": found["nodes"] or "nothing that could be read", "situations": found["situations"]}
            ledger.record("triage.kept", body, request.user.get_username())
    except ledger.LedgerDown as down:
        return {"not_kept": str(down)}
    return {"kept": kept}
