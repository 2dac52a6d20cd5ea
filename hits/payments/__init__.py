"""Paying workers: what is owed, runs that a person confirms, and a ledger in which each payment happens once.

Whether someone is paid and whether their ratings count are two decisions; nothing here asks about trust.
"""
