from django.apps import AppConfig


class PostmortemsConfig(AppConfig):
    name = "app.postmortems"
    label = "postmortems"
    default_auto_field = "django.db.models.BigAutoField"
