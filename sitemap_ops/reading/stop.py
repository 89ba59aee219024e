"""The end of reading one file before its end: what it is can't be judged further, or may not be read further."""

from __future__ import annotations


class Stop(Exception):
    """Carries the one finding that ends the reading."""

    def __init__(
        self, code: str, *, value: str | None = None, line: int | None = None, message: str | None = None
    ) -> None:
        super().__init__(code)
        self.code = code
        self.value = value
        self.line = line
        self.message = message
