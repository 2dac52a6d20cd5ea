"""Ranking: several outputs of one segment on a screen, ordered from best to worst."""
