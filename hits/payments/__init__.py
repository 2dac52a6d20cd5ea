"""Paying workers: what is owed, runs that a person confirms, and a ledger that pays each thing once.

Whether someone is paid and whether their ratings count are separate decisions; nothing here looks at trust.
"""
