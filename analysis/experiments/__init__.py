"""Experiments: files compared with each other, without a campaign. One module for each kind."""
