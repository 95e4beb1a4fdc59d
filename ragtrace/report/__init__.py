"""Results as one HTML file that can be sent to somebody."""

from ragtrace.report.render import render_report

__all__ = ["render_report"]
