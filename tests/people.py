"""The people behind the pages, by what they may do: make them, and open pages as them."""

from django.contrib.auth.models import User
from django.test import Client

from hits.models import Campaign, Membership

# From nobody to everything. `outsider` has a login and no part in anything.
PEOPLE = ("stranger", "inactive", "outsider", "researcher", "admin", "superuser")


def make_person(role: str, campaign: Campaign | None = None) -> User:
    """Make a user: a researcher or admin of one campaign, or without it of all."""
    user = User.objects.create_user(
        f"{role}{User.objects.count()}",
        is_superuser=role == "superuser",
        is_staff=role == "superuser",
    )
    if role in Membership.Level.values:
        Membership.objects.create(user=user, level=role, campaign=campaign)
    return user


def client_of(role: str, campaign: Campaign | None = None) -> Client:
    """A browser in which that person is logged in."""
    client = Client()
    if role == "stranger":
        return client
    user = make_person("admin" if role == "inactive" else role, campaign)
    client.force_login(user)
    if role == "inactive":
        User.objects.filter(pk=user.pk).update(is_active=False)
    return client
