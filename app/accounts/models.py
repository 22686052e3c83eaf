"""Who: the people who look, act and approve."""

from django.contrib.auth.models import AbstractUser


class User(AbstractUser):
    """A person. Rights come from groups ("operators", "approvers") and are asked again at every act."""
