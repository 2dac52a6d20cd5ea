"""Django's admin: a back door for superusers. Ratings and texts are history, so they are read-only."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

from .models import HIT, Assignment, Campaign, System, Worker

# Second factors are changed only on pages that record it in the audit log.
admin.site.unregister([TOTPDevice, StaticDevice])


class ReadOnlyAdmin(admin.ModelAdmin):
    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Campaign)
class CampaignAdmin(ReadOnlyAdmin):
    list_display = ["name", "source_language", "target_language", "task", "status", "created_at"]
    list_filter = ["status", "task"]
    search_fields = ["name"]


@admin.register(System)
class SystemAdmin(ReadOnlyAdmin):
    list_display = ["name", "campaign"]
    list_select_related = ["campaign"]


@admin.register(HIT)
class HITAdmin(ReadOnlyAdmin):
    list_display = ["campaign", "number", "size", "places_left"]
    list_select_related = ["campaign"]
    list_filter = ["campaign"]


@admin.register(Worker)
class WorkerAdmin(ReadOnlyAdmin):
    list_display = ["provider", "external_id", "created_at"]
    search_fields = ["external_id"]


@admin.register(Assignment)
class AssignmentAdmin(ReadOnlyAdmin):
    list_display = ["code", "hit", "worker", "status", "started_at", "submitted_at", "is_late"]
    list_select_related = ["hit__campaign", "worker"]
    list_filter = ["status"]
