"""Staff accounts: access, logins, two-step login, API tokens and the audit log."""
