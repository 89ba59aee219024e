"""CSV sources: what is read, what is refused, and what stops the read."""

from __future__ import annotations

import gzip
import random
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from sitemap_ops.errors import SourceError, UsageError
from sitemap_ops.inventory import Chunk, csv, read

HEADER = b"loc,lastmod,priority\n"
GOOD = b"https://a.example/1,2024-01-01,0.5\n"
WANTED = ("loc", "priority")

Rows = dict[int, tuple[Any, ...]]


def source(path: Path, **settings: Any) -> Any:
    defaults = {"encoding": "utf-8-sig", "delimiter": ",", "max_bad_rows": 100, "aws_conn_id": None}
    return SimpleNamespace(type="csv", path=str(path), **defaults | settings)


def read_bytes(
    content: bytes, folder: Path, *, columns: tuple[str, ...] = WANTED, chunk_rows: int = 1000, **settings: Any
) -> list[Chunk]:
    path = folder / "pages.csv"
    path.write_bytes(content)
    return list(read(source(path, **settings), columns, None, chunk_rows=chunk_rows))  # type: ignore[arg-type]


def rows(chunks: list[Chunk]) -> Rows:
    return {number: tuple(values) for chunk in chunks for number, *values in chunk.rows.itertuples(name=None)}


def rejects(chunks: list[Chunk]) -> list[tuple[int, str, str]]:
    return [tuple(row) for c in chunks for row in c.rejects.itertuples(index=False, name=None)]


@pytest.fixture(params=[2 << 20, 48], ids=["one block", "blocks of 48 bytes"])
def any_block(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The outcome may not depend on where pyarrow's blocks end."""
    monkeypatch.setattr(csv, "BLOCK_BYTES", request.param)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param(HEADER, {}, id="header only"),
        pytest.param(HEADER.rstrip(), {}, id="header without a line end"),
        pytest.param(HEADER + b"a,b,c\nd,e,f", {1: ("a", "c"), 2: ("d", "f")}, id="no line end at the end"),
        pytest.param(HEADER + b"a,b,c\r\nd,e,f\r\n", {1: ("a", "c"), 2: ("d", "f")}, id="CRLF"),
        pytest.param(HEADER.replace(b"\n", b"\r") + b"a,b,c\rd,e,f\r", {1: ("a", "c"), 2: ("d", "f")}, id="CR"),
        pytest.param(b"\n\n" + HEADER + b"\na,b,c\n\nd,e,f\n\n", {1: ("a", "c"), 2: ("d", "f")}, id="blank lines"),
        pytest.param(b"\xef\xbb\xbf" + HEADER + b"a,b,c\n", {1: ("a", "c")}, id="byte order mark"),
        pytest.param(b'\xef\xbb\xbf"loc", priority \na,c\n', {1: ("a", "c")}, id="header cells quoted or padded"),
        pytest.param(HEADER + b'"a ""q"", b",x,c\n', {1: ('a "q", b', "c")}, id="quoted"),
        pytest.param(HEADER + b'a"b,x,"c"\n', {1: ('a"b', "c")}, id="quote inside a field"),
        pytest.param(HEADER + b'"a\nb",x,c\nd,e,f\n', {1: ("a\nb", "c"), 2: ("d", "f")}, id="newline in quotes"),
        pytest.param(HEADER + b" a ,x, c\n", {1: (" a ", " c")}, id="cells are not trimmed"),
        pytest.param(b"loc,,priority,\na,b,c,d\n", {1: ("a", "c")}, id="unnamed columns"),
    ],
)
@pytest.mark.usefixtures("any_block")
def test_reads_what_csv_allows(content: bytes, expected: Rows, tmp_path: Path) -> None:
    """RFC 4180, and C-86: a byte order mark and padding are no part of a column's name."""
    chunks = read_bytes(content, tmp_path)
    assert rows(chunks) == expected
    assert rejects(chunks) == []


def test_every_cell_is_the_text_that_it_is(tmp_path: Path) -> None:
    """C-90: ids keep their digits, `NA` and `null` are words, an empty field is an empty text and not null."""
    cells = ["9007199254740993", "00123", "1e5", "NA", "null", "NaN", "true", "", '""', "2024-01-01"]
    (chunk,) = read_bytes(
        b"id\n" + b"\n".join(f"{cell}".encode() or b'""' for cell in cells), tmp_path, columns=("id",)
    )
    assert chunk.rows["id"].dtype == pd.ArrowDtype(pa.string())
    assert chunk.rows["id"].tolist() == [cell if cell != '""' else "" for cell in cells]
    assert not chunk.rows["id"].isna().any()


def test_only_the_wanted_columns_in_the_order_wanted(tmp_path: Path) -> None:
    """Only what the section uses is converted."""
    (chunk,) = read_bytes(HEADER + b"a,b,c\n", tmp_path, columns=("priority", "loc", "priority"))
    assert list(chunk.rows.columns) == ["priority", "loc"]


@pytest.mark.usefixtures("any_block")
def test_rows_of_a_wrong_length_are_rejects_with_their_numbers(tmp_path: Path) -> None:
    """A wrong number of fields never shifts a column; the rows after it keep their true numbers."""
    lines = [GOOD] * 40
    bad = {3: b"short,1\n", 4: b"long,1,2,3\n", 20: b'"two\nlines",1\n', 40: b"last"}
    for number, line in bad.items():
        lines[number - 1] = line
    lines.insert(10, b"\n\n")
    chunks = read_bytes(HEADER + b"".join(lines), tmp_path, chunk_rows=7)
    assert sorted(rows(chunks)) == [number for number in range(1, 41) if number not in bad]
    assert rejects(chunks) == [(n, line.decode().rstrip(), "csv-field-count") for n, line in bad.items()]
    assert all(len(chunk.rows) <= 7 for chunk in chunks)


def test_rejects_keep_their_numbers_at_random(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Row numbers stay true wherever bad rows, block borders and chunk borders fall."""
    chance = random.Random(4)
    for _ in range(60):
        monkeypatch.setattr(csv, "BLOCK_BYTES", chance.randint(16, 400))
        bad = {number for number in range(1, 101) if chance.random() < 0.1}
        lines = [f"{n},x\n" if n in bad else f'{n},"{chance.choice(["", "y"])}",z\n' for n in range(1, 101)]
        chunks = read_bytes(HEADER + "".join(lines).encode(), tmp_path, chunk_rows=chance.randint(1, 60))
        assert {number: int(row[0]) for number, row in rows(chunks).items()} == {
            number: number for number in range(1, 101) if number not in bad
        }
        assert [(number, int(value.split(",")[0])) for number, value, _ in rejects(chunks)] == [
            (number, number) for number in sorted(bad)
        ]


@pytest.mark.parametrize("size", range(8, 60))
def test_a_line_end_that_is_cut_by_a_block_is_one(size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A block of nothing but the LF of a CRLF, which pyarrow takes for the end of the file, hides no row."""
    monkeypatch.setattr(csv, "BLOCK_BYTES", size)
    content = b"loc\r\n" + b"abcd\r\n" * 9
    assert rows(read_bytes(content, tmp_path, columns=("loc",))) == dict.fromkeys(range(1, 10), ("abcd",))


def test_a_file_of_bad_rows_only_still_reports_them(tmp_path: Path) -> None:
    """No reject is lost when no row is left to go with it; its chunk has the columns that were wanted."""
    (chunk,) = read_bytes(HEADER + b"a\nb,c\n", tmp_path)
    assert rejects([chunk]) == [(1, "a", "csv-field-count"), (2, "b,c", "csv-field-count")]
    assert len(chunk.rows) == 0
    assert chunk.rows.dtypes.to_dict() == dict.fromkeys(WANTED, pd.ArrowDtype(pa.string()))


def test_a_reject_is_cut(tmp_path: Path) -> None:
    """One broken row can't fill the report."""
    ((_, value, _),) = rejects(read_bytes(HEADER + b"x" * 100_000 + b"\n", tmp_path))
    assert value == "x" * 200


@pytest.mark.usefixtures("any_block")
def test_too_many_bad_rows_stop_the_read(tmp_path: Path) -> None:
    """More than max_bad_rows is a wrong file, not some wrong rows: the error counts and shows."""
    content = HEADER + GOOD * 3 + b"one,two\n" * 4 + GOOD * 3
    assert len(rejects(read_bytes(content, tmp_path, max_bad_rows=4))) == 4
    with pytest.raises(SourceError, match=r"4 or more rows .* max_bad_rows allows 3: .* 3, row 4: 'one,two' has 2"):
        read_bytes(content, tmp_path, max_bad_rows=3)
    with pytest.raises(SourceError, match=r"1 or more rows .* max_bad_rows allows 0"):
        read_bytes(HEADER + b"one\n", tmp_path, max_bad_rows=0)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(b"", "is empty", id="empty"),
        pytest.param(b"\n\r\n", "is empty", id="blank"),
        pytest.param(b"\xef\xbb\xbf", "is empty", id="only a byte order mark"),
        pytest.param(
            b"url,priority\na,b\n", "no column 'loc' in .*: its columns are 'url', 'priority'", id="missing column"
        ),
        pytest.param(b"Loc\xc2\xa0x,priority\n", r"its columns are 'Loc\\xa0x', 'priority'", id="missing, invisible"),
        pytest.param(b"loc;priority\na;b\n", r"'loc;priority' \(is the delimiter right\?\)", id="wrong delimiter"),
        pytest.param(b"loc,loc,priority\na,b,c\n", "2 columns named 'loc'", id="a wanted name twice"),
        pytest.param(b"loc,x,priority,x\na,b,c,d\n", "2 columns named 'x'", id="another name twice"),
        pytest.param(HEADER + GOOD + b"1,\0,3\n", "NUL byte on line 3", id="NUL"),
        pytest.param(HEADER.decode().encode("utf-16-le"), "NUL byte on line 1.*utf-16", id="UTF-16 read as UTF-8"),
        pytest.param(HEADER + GOOD + b'"a,1,2\nb,3,4\n', "row 2 opens a quote", id="open quote, first field"),
        pytest.param(HEADER + GOOD + b'a,1,"2\nb,3,4\n', "row 2 opens a quote", id="open quote, last field"),
        pytest.param(HEADER + GOOD + b'a,1,"2', "row 2 opens a quote", id="open quote at the very end"),
        pytest.param(HEADER + b'a,1,"', "row 1 opens a quote", id="nothing after the quote"),
        pytest.param(b"loc," + b"x" * 70_000, "header line of more than 65,536 bytes", id="endless header"),
        pytest.param(b"loc," + b"x" * 200_000, "no readable header|header line", id="huge header cell"),
        pytest.param(gzip.compress(HEADER + GOOD * 9)[:-9], "no whole gzip file", id="truncated gzip"),
        pytest.param(gzip.compress(HEADER + GOOD) + b"more", "no whole gzip file", id="something after a gzip"),
    ],
)
def test_a_file_that_can_not_be_read_whole_is_an_error(content: bytes, message: str, tmp_path: Path) -> None:
    """C-86 and infra.md 5: what other readers take in silence stops here, with the file, the place and the reason."""
    with pytest.raises(SourceError, match=message) as raised:
        read_bytes(content, tmp_path)
    assert str(tmp_path / "pages.csv") in str(raised.value)


def test_a_row_longer_than_a_block_is_an_error(tmp_path: Path) -> None:
    """Memory is bounded: a quote that is never closed can't collect the rest of a large file."""
    content = HEADER + GOOD * 5 + b'"open,1,2\n' + GOOD * 100_000
    with pytest.raises(SourceError, match="row 6 is longer than 2,097,152 bytes; does it open a quote"):
        read_bytes(content, tmp_path)


def test_a_damaged_gzip_is_an_error(tmp_path: Path) -> None:
    """One flipped bit anywhere in a gzip file never gives rows that look complete."""
    packed = bytearray(gzip.compress(HEADER + b"".join(b"%d,x,y\n" % n for n in range(2000))))
    for at in random.Random(1).sample(range(len(packed) // 3, len(packed) - 4), 40):
        damaged = packed.copy()
        damaged[at] ^= 0x10
        with pytest.raises(SourceError):
            read_bytes(bytes(damaged), tmp_path)


@pytest.mark.parametrize("name", ["pages.csv.gz", "pages.csv"])
def test_gzip_is_told_by_its_content(name: str, tmp_path: Path) -> None:
    """A gzip file is unpacked whatever its name says, in one or more members."""
    path = tmp_path / name
    path.write_bytes(gzip.compress(HEADER + GOOD) + gzip.compress(GOOD))
    chunks = list(read(source(path), ("loc",), None))  # type: ignore[arg-type]
    assert rows(chunks) == {1: ("https://a.example/1",), 2: ("https://a.example/1",)}


def test_no_file_and_a_folder(tmp_path: Path) -> None:
    """A wrong path is one sentence."""
    with pytest.raises(SourceError, match=r"There is no file .*none\.csv: put it there, or correct the path"):
        list(read(source(tmp_path / "none.csv"), WANTED, None))  # type: ignore[arg-type]
    with pytest.raises(SourceError, match="is a folder"):
        list(read(source(tmp_path), WANTED, None))  # type: ignore[arg-type]


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_delimiters(delimiter: str, tmp_path: Path) -> None:
    """The delimiter is a setting."""
    text = HEADER.decode().replace(",", delimiter) + delimiter.join(["a,b", "c", "d"])
    assert rows(read_bytes(text.encode(), tmp_path, delimiter=delimiter)) == {1: ("a,b", "d")}


@pytest.mark.parametrize("delimiter", ["\\t", "", "§", '"', "\n"])
def test_what_can_not_be_a_delimiter(delimiter: str, tmp_path: Path) -> None:
    """A wrong setting is told as one."""
    with pytest.raises(UsageError, match="a delimiter is one ASCII character"):
        read_bytes(HEADER, tmp_path, delimiter=delimiter)


@pytest.mark.parametrize(
    "encoding",
    ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "cp1254", "iso-8859-9", "gb18030", "utf-7"],
)
def test_encodings(encoding: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """C-93: any of Python's encodings, by setting; characters cut by a block border are whole again."""
    text = "loc,priority\n" + "".join(f"/öğüş-{n},{'é' * (n % 7)}\n" for n in range(200))
    expected = {n + 1: (f"/öğüş-{n}", "é" * (n % 7)) for n in range(200)}
    for block in (64, 65, 66, 67, 2 << 20):
        monkeypatch.setattr(csv, "BLOCK_BYTES", block)
        assert rows(read_bytes(text.encode(encoding), tmp_path, encoding=encoding)) == expected


def test_a_bad_byte_in_a_column_that_is_not_wanted(tmp_path: Path) -> None:
    """The file is not in its encoding, so no column of it can be trusted."""
    with pytest.raises(SourceError, match="byte 0xe9 on line 2"):
        read_bytes(HEADER + b"a,\xe9,c\n", tmp_path, columns=("loc",))


@pytest.mark.parametrize("encoding", ["latin-one", "rot13", "base64", "", "utf\0"])
def test_what_is_no_encoding(encoding: str, tmp_path: Path) -> None:
    """A wrong setting is told as one, and nothing is guessed instead."""
    with pytest.raises(UsageError, match="no text encoding"):
        read_bytes(HEADER, tmp_path, encoding=encoding)


def test_chunks_are_full_and_numbered(tmp_path: Path) -> None:
    """Chunks hold chunk_rows rows but for the last, whatever the blocks; numbers count from 1."""
    content = b"loc\n" + b"".join(b"%d\n" % n for n in range(1, 1001))
    chunks = read_bytes(content, tmp_path, columns=("loc",), chunk_rows=300)
    assert [len(chunk.rows) for chunk in chunks] == [300, 300, 300, 100]
    assert [int(value) for chunk in chunks for value in chunk.rows["loc"]] == list(range(1, 1001))
    assert [number for chunk in chunks for number in chunk.rows.index] == list(range(1, 1001))


def test_a_reader_that_stops_early_leaves_nothing_open(tmp_path: Path) -> None:
    """A caller may stop at any chunk; the file is closed then."""
    path = tmp_path / "pages.csv"
    path.write_bytes(b"loc\n" + b"x" * 50 + (b"\n" + b"x" * 50) * 200_000)
    before = open_files()
    chunks = read(source(path), ("loc",), None, chunk_rows=100)  # type: ignore[arg-type]
    next(chunks)
    chunks.close()  # type: ignore[attr-defined]
    deadline = time.monotonic() + 5
    while open_files() > before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert open_files() <= before


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))
