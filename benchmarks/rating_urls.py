"""The platform's pages, and the views of plain Django behind the platform's middleware."""

from django.contrib.auth.decorators import login_not_required
from django.urls import include, path

from .bare_urls import bare_cursor, bare_orm

urlpatterns = [
    path("bare/orm/", login_not_required(bare_orm)),
    path("bare/cursor/", login_not_required(bare_cursor)),
    path("", include("da_platform.urls")),
]
