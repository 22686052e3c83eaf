"""What a person types to make a token."""

from typing import Any

from django import forms

from app.api.scopes import LIVES, SCOPES, why_not


class MakeToken(forms.Form):
    name = forms.CharField(label="What it is for", max_length=60)
    scopes = forms.MultipleChoiceField(
        label="What it may do", choices=[(name, f"{name}: {words}") for name, words in SCOPES.items()], widget=forms.CheckboxSelectMultiple
    )
    life = forms.ChoiceField(label="How long it lasts", choices=[(name, life.words) for name, life in LIVES.items()])
    password = forms.CharField(label="Your password, once more", required=False, strip=False, widget=forms.PasswordInput)

    def clean(self) -> dict[str, Any]:
        super().clean()
        cleaned = self.cleaned_data
        if "scopes" in cleaned and "life" in cleaned and (why := why_not(cleaned["scopes"], LIVES[cleaned["life"]].lasts)):
            self.add_error("life", why)
        return cleaned
