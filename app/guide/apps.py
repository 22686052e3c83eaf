from django.apps import AppConfig


class GuideConfig(AppConfig):
    name = "app.guide"
    label = "guide"
