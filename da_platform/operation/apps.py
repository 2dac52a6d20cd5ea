from django.apps import AppConfig


class OperationConfig(AppConfig):
    name = "da_platform.operation"
    label = "operation"
