"""Who is notified of what, and what became of it; and the door for what other watchers say."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import RequestDataTooBig
from django.db.models import Count, Max, QuerySet
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from app.accounts.asking import needs, user_of
from app.accounts.changing import fresh
from app.accounts.rights import NOTICES, may
from app.core.pages import live, minute, render_page
from app.ledger.forms import LedgerDown
from app.notices import alertmanager, channels
from app.notices.forms import ChannelForm, HookForm
from app.notices.models import Channel, Hook, Notice

SHOWN = 100
TONES = {"waiting": "watch", "sending": "info", "sent": "good", "failed": "bad", "folded": "idle"}


def notices_stamp(request: HttpRequest) -> Any:
    newest = Notice.objects.values_list("pk", "state", "attempts")[:SHOWN]
    hooks = Hook.objects.values_list("pk", "received_at", "revoked_at")
    return list(newest), list(Channel.objects.values_list("pk", "name", "is_on")), list(hooks), minute()


@login_required
@require_safe
@live(notices_stamp)
def notices(request: HttpRequest) -> HttpResponse:
    context = {
        "section": "notices",
        "topics": "notices",
        "channels": [_line(channel) for channel in Channel.objects.select_related("team")],
        "hooks": Hook.objects.filter(revoked_at=None).select_related("team"),
        "notices": shown(Notice.objects.all()),
        "failed": Notice.objects.filter(state=Notice.State.FAILED).count(),
        "form": HookForm(),
        "may_manage": may(user_of(request), NOTICES),
        "has_address": bool(settings.PORTAL_URL),
    }
    return render_page(request, "notices/notices.html", context, partial="notices")


def _line(channel: Channel) -> dict[str, Any]:
    """A channel with the last notice that was tried, and whether it arrived."""
    return {"channel": channel, "last": channel.notices.filter(attempts__gt=0).first()}


def shown(found: QuerySet[Notice]) -> list[dict[str, Any]]:
    newest = found.select_related("channel", "into").annotate(carried=Count("folded"))[:SHOWN]
    return [{"notice": notice, "tone": TONES[notice.state]} for notice in newest]


def channel_stamp(request: HttpRequest, pk: int) -> Any:
    own = Notice.objects.filter(channel=pk).values_list("pk", "state", "attempts")[:SHOWN]
    return list(own), list(Channel.objects.filter(pk=pk).values_list("name", "is_on", "service")), minute()


@needs(NOTICES)
@require_safe
@live(channel_stamp)
def channel(request: HttpRequest, pk: int) -> HttpResponse:
    return _channel_page(request, get_object_or_404(Channel, pk=pk))


def _channel_page(request: HttpRequest, one: Channel, form: ChannelForm | None = None) -> HttpResponse:
    tests = one.notices.filter(kind="test").aggregate(last=Max("pk"))["last"]
    context = {
        "section": "notices",
        "topics": "notices",
        "channel": one,
        "form": form or ChannelForm(instance=one),
        "test": next(iter(shown(one.notices.filter(pk=tests))), None),
        "notices": shown(one.notices.all()),
    }
    return render_page(request, "notices/channel.html", context, partial="channel", status=422 if form else 200)


@needs(NOTICES)
@require_POST
@fresh
def change(request: HttpRequest, pk: int) -> HttpResponse:
    one = get_object_or_404(Channel, pk=pk)
    form = ChannelForm(request.POST, instance=one)
    if form.is_valid() and _done(form, lambda: channels.keep(form.save(commit=False), form.cleaned_data["url"], user_of(request))):
        messages.success(request, f"{one.name} is kept.")
        return redirect(one)
    one.refresh_from_db()
    return _channel_page(request, one, form)


@needs(NOTICES)
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@fresh
def add(request: HttpRequest) -> HttpResponse:
    form = ChannelForm(request.POST) if request.method == "POST" else ChannelForm()
    if form.is_bound and form.is_valid():
        made = form.save(commit=False)
        if _done(form, lambda: channels.keep(made, form.cleaned_data["url"], user_of(request))):
            messages.success(request, f"{made.name} is there. Send a test through it.")
            return redirect(made)
    return render(request, "notices/add.html", {"section": "notices", "form": form}, status=422 if form.is_bound else 200)


def _done(form: ChannelForm | HookForm, act: Callable[[], object]) -> bool:
    """Whether it was done; else the form says why not."""
    try:
        act()
    except LedgerDown as down:
        form.add_error(None, str(down))
        return False
    return True


@needs(NOTICES)
@require_POST
@fresh
def remove(request: HttpRequest, pk: int) -> HttpResponse:
    one = get_object_or_404(Channel, pk=pk)
    if request.POST.get("name") != one.name:
        messages.error(request, f"That is not {one.name}. Nothing was done.")
        return redirect(one)
    return _act(request, lambda: channels.remove(one, user_of(request)), f"{one.name} is removed.", "notices", "channel", pk)


@needs(NOTICES)
@require_POST
def test(request: HttpRequest, pk: int) -> HttpResponse:
    one = get_object_or_404(Channel, pk=pk)
    text = "A test is being sent. The answer is shown here within seconds."
    return _act(request, lambda: channels.try_out(one, user_of(request)), text, "channel", "channel", pk)


@needs(NOTICES)
@require_POST
def again(request: HttpRequest, pk: int) -> HttpResponse:
    one = get_object_or_404(Notice.objects.select_related("channel"), pk=pk)
    return _act(request, lambda: channels.send_again(one, user_of(request)), "It is sent again.", "notices", "notices")


def _act(request: HttpRequest, act: Callable[[], object], text: str, to: str, back: str, *args: int) -> HttpResponse:
    try:
        act()
    except LedgerDown as down:
        messages.error(request, str(down))
        return redirect(back, *args)
    messages.success(request, text)
    return redirect(to, *(args if to == back else ()))


# --- hooks


@needs(NOTICES)
@never_cache
@require_POST
@fresh
def add_hook(request: HttpRequest) -> HttpResponse:
    """The token is in the answer to this POST and nowhere else, ever."""
    form = HookForm(request.POST)
    context: dict[str, Any] = {"section": "notices"}
    if form.is_valid():
        hook, values = form.save(commit=False), dict[str, str]()
        if _done(form, lambda: values.update(token=channels.add_hook(hook, user_of(request)))):
            context |= {"hook": hook, "address": request.build_absolute_uri(f"/hooks/alertmanager/{values['token']}")}
    return render(request, "notices/hook.html", context | {"form": form}, status=200 if "hook" in context else 422)


@needs(NOTICES)
@require_POST
@fresh
def revoke_hook(request: HttpRequest, pk: int) -> HttpResponse:
    hook = get_object_or_404(Hook, pk=pk, revoked_at=None)
    text = f"{hook.name} is shut. What it had reported and not resolved is over."
    return _act(request, lambda: channels.revoke_hook(hook, user_of(request)), text, "notices", "notices")


@csrf_exempt
@require_POST
def from_alertmanager(request: HttpRequest, token: str) -> HttpResponse:
    """Alertmanager's door: the token in the address says which hook it is. A wrong one is answered like an address that is not there."""
    hook = get_object_or_404(Hook.objects.select_related("team"), token_hash=channels.hashed(token), revoked_at=None)
    try:
        alerts = alertmanager.read(_body(request))
    except alertmanager.BadPayload as bad:
        return JsonResponse({"reason": str(bad)}, status=400)
    alertmanager.take(hook, alerts, timezone.now())
    return JsonResponse({"taken": len(alerts)})


def _body(request: HttpRequest) -> bytes:
    try:
        return request.read(alertmanager.BYTES_MAX + 1)
    except RequestDataTooBig:
        raise alertmanager.BadPayload("The payload is too large.") from None
