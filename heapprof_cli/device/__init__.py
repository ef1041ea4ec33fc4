"""Phones over ADB: a raw layer (server, shell, sync) below, a semantic phone above."""
