"""What a person types to decide who is notified of what."""

from typing import TYPE_CHECKING, Any, TypeAlias
from zoneinfo import available_timezones

from django import forms

from app.accounts.models import Team
from app.notices import sending
from app.notices.models import Channel, Hook

FLEET = "every node"


if TYPE_CHECKING:  # at run time a ModelForm takes no argument
    OfChannel: TypeAlias = forms.ModelForm[Channel]
    OfHook: TypeAlias = forms.ModelForm[Hook]
else:
    OfChannel = OfHook = forms.ModelForm


def _name_teams(form: OfChannel | OfHook) -> None:
    team = form.fields["team"]
    assert isinstance(team, forms.ModelChoiceField)
    team.queryset, team.empty_label = Team.objects.all(), FLEET


class ChannelForm(OfChannel):
    """`url` is asked for once. It is never shown again, so an empty one in a change keeps what is there."""

    url = forms.CharField(label="Apprise URL", max_length=2000, required=False, widget=forms.PasswordInput(render_value=False))

    class Meta:
        model = Channel
        fields = ["name", "team", "severity", "quiet_from", "quiet_until", "zone", "urgent_passes", "is_on"]
        widgets = {
            "quiet_from": forms.TimeInput(attrs={"type": "time"}, format="%H:%M"),
            "quiet_until": forms.TimeInput(attrs={"type": "time"}, format="%H:%M"),
        }

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        _name_teams(self)

    def clean_url(self) -> str:
        url: str = self.cleaned_data["url"].strip()
        if not url and self.instance.pk is None:
            raise forms.ValidationError("Where should notices go? Give an Apprise URL.")
        if url:
            try:
                sending.read(url)
            except sending.BadURL as bad:
                raise forms.ValidationError(str(bad)) from None
        return url

    def clean_zone(self) -> str:
        zone: str = self.cleaned_data["zone"]
        if zone not in available_timezones():
            raise forms.ValidationError("This is no time zone. They are called like Europe/Berlin or UTC.")
        return zone

    def clean(self) -> None:
        super().clean()
        if bool(self.cleaned_data.get("quiet_from")) != bool(self.cleaned_data.get("quiet_until")):
            self.add_error("quiet_until", "Quiet hours need a beginning and an end. Leave both empty for none.")


class HookForm(OfHook):
    class Meta:
        model = Hook
        fields = ["name", "team"]

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        _name_teams(self)
