"""What a person types to let a node in or shut it out."""

from typing import Any

from django import forms
from django.core.validators import RegexValidator

from app.fleet.models import NODE_NAME, Node

NAME_RULE = "A node's name has letters, digits, dots, dashes and underscores, at most 63, and begins with a letter or digit."


class AddNode(forms.Form):
    """A new node, or a new key for one that is there: then its name is typed again, because its agent will be shut out."""

    name = forms.CharField(label="Name of the node", max_length=63, validators=[RegexValidator(rf"^{NODE_NAME}\Z", NAME_RULE)])
    password = forms.CharField(label="Your password, or a code of your authenticator", required=False, widget=forms.PasswordInput)
    again = forms.CharField(label="The name again", max_length=63, required=False)

    def clean(self) -> None:
        super().clean()
        name = self.cleaned_data.get("name")
        enrolled = Node.objects.filter(name=name, state=Node.State.ENROLLED).first() if name else None
        if enrolled is not None and self.cleaned_data.get("again") != name:
            text = f"{name} has an agent already. Enrolling it anew shuts that one out. If you mean it, type the name again below."
            self.add_error("again", text)


class Revoke(forms.Form):
    """The node's name, typed, because its agent goes silent at once."""

    name = forms.CharField(label="Type the node's name", max_length=63)

    def __init__(self, *args: Any, node: Node, **more: Any) -> None:
        super().__init__(*args, **more)
        self.node = node

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if name != self.node.name:
            raise forms.ValidationError(f"That is not {self.node.name}. Nothing was done.")
        return name
