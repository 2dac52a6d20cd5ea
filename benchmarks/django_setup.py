"""Set up Django: import this module before anything that needs models."""

import os

import django
from django.conf import settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "da_platform.settings")
os.environ.setdefault("DA_DEBUG", "1")
django.setup()
# Otherwise Django keeps every query in memory.
settings.DEBUG = False
