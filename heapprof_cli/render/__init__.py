"""Reporters: each turns the same result record into text. They never measure and never print."""
