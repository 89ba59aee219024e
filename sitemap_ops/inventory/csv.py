"""CSV: streamed through pyarrow, every cell as the text that it is.

`NA`, `null` and the empty field stay text and ids never become floats (C-90). A row with a wrong number of fields is a
reject with its row number, up to a limit; it is never shifted into other columns and never skipped in silence. What
the format allows (RFC 4180) is read: quoted delimiters and newlines, doubled quotes, CRLF, a byte order mark (C-86).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv

from sitemap_ops.columns import frame
from sitemap_ops.errors import SourceError, UsageError
from sitemap_ops.inventory.chunk import REJECT_SCHEMA, Chunk, positions, regroup
from sitemap_ops.inventory.files import open_bytes, reading
from sitemap_ops.inventory.text import utf8_blocks

if TYPE_CHECKING:
    from sitemap_ops.connections import Connections
    from sitemap_ops.site import CsvSource

BLOCK_BYTES = 2 << 20
"""The longest row. pyarrow reads 32 blocks ahead, so this also bounds its memory, at 64 MiB."""

HEADER_BYTES = 1 << 16
BYTE_ORDER_MARK = "\ufeff"

END_MARK = "\0"
"""Begins the row that is put after the text: a NUL is in no text that `utf8_blocks` lets through."""

FIELD_COUNT = "csv-field-count"
VALUE_LENGTH = 200
EXAMPLES = 3


def read_csv(
    source: CsvSource, columns: Sequence[str], connections: Connections, chunk_rows: int, _: Collection[str] = ()
) -> Iterator[Chunk]:
    """The wanted columns of a CSV file or object, plain or gzip, as text; rows are numbered from 1 after the header.

    Blank lines are no rows. A row with a wrong number of fields is a reject, reason `csv-field-count`. Raises
    SourceError where the text can't be read to its end, a column is missing, a name in the header is there twice, a
    quote is never closed, a row is longer than BLOCK_BYTES, or more than `max_bad_rows` rows were rejected.
    """
    where = source.path
    if len(source.delimiter.encode()) != 1 or source.delimiter in '"\r\n':
        raise UsageError(
            f"{where}: a delimiter is one ASCII character, such as ';' or a tab, not {source.delimiter!r}."
        )
    with open_bytes(where, connections, source.aws_conn_id) as raw:
        text = utf8_blocks(_blocks(raw, where), source.encoding, where)
        header, rest = _header(text, source.delimiter, where)
        places = positions(header, columns, where, " (is the delimiter right?)" if len(header) == 1 else "")
        refused = _Refused(where, len(header), source.max_bad_rows)
        end = f"\n{END_MARK}{source.delimiter * len(header)}\n".encode()
        stream = _Stream(_of_some_length(chain([rest], text, [end])))
        batches = _batches(stream, len(header), source.delimiter, places, refused)
        yield from _chunks(batches, list(places), refused, chunk_rows)


def _blocks(raw: IO[bytes], where: str) -> Iterator[bytes]:
    while True:
        with reading(where):
            block = raw.read(BLOCK_BYTES)
        if not block:
            return
        yield block


def _header(text: Iterator[bytes], delimiter: str, where: str) -> tuple[list[str], bytes]:
    """The column names, trimmed, and what follows them in the first block."""
    first = next(text, b"")
    head = first[:HEADER_BYTES].decode("utf-8", "ignore")  # ignores a character that is cut here, nothing else
    lines = io.StringIO(head, newline="")
    lines.seek(int(head.startswith(BYTE_ORDER_MARK)))
    try:
        cells = next((row for row in csv.reader(lines, delimiter=delimiter) if row), None)
    except csv.Error as error:
        raise SourceError(f"{where} has no readable header line: {error}.") from None
    if cells is None:
        raise SourceError(f"{where} is empty: it needs a first line that names its columns.")
    if lines.tell() == len(head) and len(first) > HEADER_BYTES:
        raise SourceError(f"{where} has a header line of more than {HEADER_BYTES:,} bytes; is it a CSV file?")
    names = [cell.strip() for cell in cells]
    positions(names, filter(None, names), where)
    return names, first[len(head[: lines.tell()].encode()) :]


def _of_some_length(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes without empty blocks, and without the lone line feed that pyarrow takes for the end after a CR."""
    held = b""
    for block in blocks:
        held = held + block if held else block
        if len(held) > 1:
            yield held
            held = b""


class _Stream(io.RawIOBase):
    """Blocks of bytes as the file that pyarrow wants; it asks for BLOCK_BYTES and takes what it is given."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks_left = blocks

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        return next(self._blocks_left, b"")


class _Refused:
    """pyarrow's handler of rows with a wrong number of fields: keeps them, and stops the read beyond the limit.

    After the text stands one row more, the end mark, that must come back here: a quote that was opened and never
    closed would swallow it.
    """

    def __init__(self, where: str, fields: int, limit: int) -> None:
        self.where, self.fields, self.limit = where, fields, limit
        self.rows: list[tuple[int, str]] = []
        self.first: list[tuple[int, str]] = []
        self.count = 0
        self.ended = False

    def __call__(self, row: pyarrow.csv.InvalidRow) -> str:
        if row.text.startswith(END_MARK):
            self.ended = True
            return "skip"
        self.count += 1
        self.rows.append((row.number, row.text[:VALUE_LENGTH]))
        if len(self.first) < EXAMPLES:
            self.first.append((row.number, f"{row.text[:60]!r} has {row.actual_columns}"))
        return "error" if self.count > self.limit else "skip"

    def before(self, number: int | None) -> pd.DataFrame:
        """Take what was refused before a row as rejects."""
        taken = [row for row in self.rows if number is None or row[0] < number]
        del self.rows[: len(taken)]
        numbers, values = [number for number, _ in taken], [value for _, value in taken]
        return frame(pa.table([numbers, values, [FIELD_COUNT] * len(taken)], schema=REJECT_SCHEMA))

    def numbers(self, first: int, count: int) -> pd.Index[Any]:
        """The numbers of some rows that pyarrow handed over: consecutive but for those that it handed over here."""
        if not self.rows:
            return pd.RangeIndex(first, first + count)
        candidates = np.arange(first, first + count + len(self.rows))
        refused = [number for number, _ in self.rows]
        handed_over: pd.Index[Any] = pd.Index(np.setdiff1d(candidates, refused, assume_unique=True)[:count])
        return handed_over

    def too_many(self) -> SourceError:
        examples = "; ".join(f"row {number}: {text}" for number, text in self.first)
        return SourceError(
            f"{self.where} has {self.count} or more rows with a wrong number of fields, and max_bad_rows allows"
            f" {self.limit}: the header has {self.fields}, {examples}."
        )


def _batches(
    stream: _Stream, fields: int, delimiter: str, places: dict[str, int], refused: _Refused
) -> Iterator[pa.RecordBatch]:
    names = [str(place) for place in range(fields)]
    wanted = [names[place] for place in places.values()]
    rows = 0
    try:
        with pyarrow.csv.open_csv(
            stream,
            # only without threads does the handler learn the numbers of its rows; one core does 3 million rows a second
            read_options=pyarrow.csv.ReadOptions(use_threads=False, block_size=BLOCK_BYTES, column_names=names),
            parse_options=pyarrow.csv.ParseOptions(
                delimiter=delimiter, newlines_in_values=True, invalid_row_handler=refused
            ),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types=dict.fromkeys(wanted, pa.string()), include_columns=wanted, check_utf8=False
            ),
        ) as reader:
            for batch in reader:
                rows += batch.num_rows
                yield batch.rename_columns(list(places))
    except pa.ArrowInvalid as error:
        if refused.count > refused.limit:
            raise refused.too_many() from None
        row = rows + refused.count + 1
        if "straddl" in str(error):
            raise SourceError(
                f"{refused.where}: row {row} is longer than {BLOCK_BYTES:,} bytes;"
                " does it open a quote that is never closed?"
            ) from None
        raise SourceError(f"{refused.where} can't be read after row {row - 1}: {error}.") from None
    if not refused.ended:
        raise SourceError(
            f"{refused.where} ends inside a quoted field: row {max(rows + refused.count, 1)} opens a quote"
            " that is never closed, or the file was cut off."
        )


def _chunks(
    batches: Iterator[pa.RecordBatch], columns: Sequence[str], refused: _Refused, chunk_rows: int
) -> Iterator[Chunk]:
    last = 0
    for batch in regroup(batches, chunk_rows):
        data = frame(batch)
        data.index = refused.numbers(last + 1, len(data))
        last = int(data.index[-1])
        yield Chunk(data, refused.before(last))
    if refused.rows:
        no_rows = pa.schema([(name, pa.string()) for name in columns]).empty_table()
        yield Chunk(frame(no_rows), refused.before(None))
