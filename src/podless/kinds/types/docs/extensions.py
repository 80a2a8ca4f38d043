"""Texts of extensions: what a current server no longer serves."""

from __future__ import annotations

TEXTS: dict[str, dict[str, str]] = {
    "ThirdPartyResource": {
        "": "Defines a kind of objects: cron-tab.mygroup.example.com is the kind CronTab of mygroup.example.com.",
        "description": "What objects of the kind are, for people.",
        "metadata": "Metadata; the name says kind and group.",
        "versions": "The versions in which the objects are served.",
    },
    "APIVersion": {
        "": "One version of a kind.",
        "apiGroup": "The group; where given, that of the name.",
        "name": "The name of the version, such as v1.",
    },
}
