from django.apps import AppConfig


class JobsConfig(AppConfig):
    name = "da_platform.jobs"
    label = "jobs"
