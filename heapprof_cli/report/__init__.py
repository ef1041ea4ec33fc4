"""The report: one page that stands alone, made of results; plots of it as files. Needs the extra ``report``."""
