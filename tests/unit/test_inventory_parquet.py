"""Parquet sources: which files, which columns, and what stops the read."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sitemap_ops.errors import SourceError
from sitemap_ops.inventory import Chunk, read
from sitemap_ops.site import ParquetSource


def write(path: Path, columns: dict[str, Any], **options: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path, **options)
    return path


def read_parquet(path: Path | str, *columns: str, chunk_rows: int = 1000) -> list[Chunk]:
    source = ParquetSource(type="parquet", path=str(path))
    return list(read(source, columns or ("loc",), None, chunk_rows=chunk_rows))  # type: ignore[arg-type]


def values(chunks: list[Chunk], column: str = "loc") -> list[Any]:
    return [value for chunk in chunks for value in chunk.rows[column].tolist()]


def test_only_the_wanted_columns_in_plain_types(tmp_path: Path) -> None:
    """C-90: ids stay whole and dictionaries are decoded; a column that can't be used does no harm unless wanted."""
    columns = {
        "loc": pa.array(["/a", "/b", "/a"]).dictionary_encode(),
        "id": pa.array([2**53 + 1, None, 3], pa.int64()),
        "images": [["/1.png", "/2.png"], [], None],
        "attributes": [{"a": 1}] * 3,
    }
    (chunk,) = read_parquet(write(tmp_path / "pages.parquet", columns), "images", "id", "loc")
    assert [str(kind) for kind in chunk.rows.dtypes] == [
        "list<element: string>[pyarrow]",
        "int64[pyarrow]",
        "string[pyarrow]",
    ]
    assert chunk.rows["id"].iloc[0] == 2**53 + 1
    assert list(chunk.rows.index) == [1, 2, 3]
    assert values([chunk]) == ["/a", "/b", "/a"]


def test_files_are_read_in_the_order_of_their_paths(tmp_path: Path) -> None:
    """A folder gives the same rows in the same order each time, without what writers leave beside their data."""
    for name in ("part-2", "part-10", "sub/part-0", "_temporary/0/part-9", ".hidden"):
        write(tmp_path / f"{name}.parquet", {"loc": [f"/{name}"]})
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / ".part-2.parquet.crc").write_bytes(b"x")
    assert values(read_parquet(tmp_path)) == ["/part-10", "/part-2", "/sub/part-0"]
    assert values(read_parquet(tmp_path / "part-*")) == ["/part-10", "/part-2"]
    assert values(read_parquet(tmp_path / "**/part-*.parquet")) == ["/part-10", "/part-2", "/sub/part-0"]
    assert values(read_parquet(tmp_path / "s?b/*")) == ["/sub/part-0"]


def test_a_name_with_wildcards_is_a_name_where_there_is_such_a_file(tmp_path: Path) -> None:
    """`[1]` in a file's name needs no escape."""
    assert values(read_parquet(write(tmp_path / "pages[1].parquet", {"loc": ["/a"]}))) == ["/a"]


def test_rows_are_numbered_over_files_and_row_groups(tmp_path: Path) -> None:
    """Chunks are full whatever the files and row groups are."""
    for file in range(3):
        locs = [f"/{file}/{n:03}" for n in range(250)]
        write(tmp_path / f"{file}.parquet", {"loc": locs}, row_group_size=40)
    chunks = read_parquet(tmp_path, chunk_rows=100)
    assert [len(chunk.rows) for chunk in chunks] == [100] * 7 + [50]
    assert [number for chunk in chunks for number in chunk.rows.index] == list(range(1, 751))
    assert values(chunks) == sorted(values(chunks))


@pytest.mark.parametrize("pattern", ["", "none.parquet", "*.parquet", "none/*.parquet"])
def test_no_file_is_an_error(pattern: str, tmp_path: Path) -> None:
    """An empty folder or a pattern without a match is no empty inventory."""
    with pytest.raises(SourceError, match="There is no Parquet file at"):
        read_parquet(tmp_path / pattern)


def test_columns_that_can_not_be_used(tmp_path: Path) -> None:
    """C-86: the error names the file, the column, and what there is."""
    path = write(tmp_path / "pages.parquet", {"url": ["/a"], "nested": [[1]]})
    with pytest.raises(SourceError, match=r"no column 'loc' in .*pages\.parquet: its columns are 'url', 'nested'"):
        read_parquet(path)
    with pytest.raises(SourceError, match=r"The column 'nested' of .*pages\.parquet is of type list<element: int64>"):
        read_parquet(path, "nested")


def test_a_column_has_one_type_in_all_files(tmp_path: Path) -> None:
    """Widths may differ, kinds may not."""
    write(tmp_path / "a.parquet", {"loc": pa.array([1], pa.int16())})
    write(tmp_path / "b.parquet", {"loc": pa.array([2], pa.int64())})
    assert values(read_parquet(tmp_path)) == [1, 2]
    write(tmp_path / "c.parquet", {"loc": ["/c"]})
    with pytest.raises(SourceError, match=r"c\.parquet are 'loc' string, and were 'loc' int64 in .*a\.parquet"):
        read_parquet(tmp_path)


def test_a_file_that_is_not_whole_is_an_error(tmp_path: Path) -> None:
    """Truncated at any place, damaged, empty, or no Parquet at all: never fewer rows in silence."""
    path = write(tmp_path / "pages.parquet", {"loc": [f"/{n}" for n in range(5000)]}, write_page_checksum=True)
    whole = path.read_bytes()
    chance = random.Random(5)
    for size in [0, 3, 8, len(whole) - 1, *(chance.randrange(len(whole)) for _ in range(20))]:
        path.write_bytes(whole[:size])
        with pytest.raises(SourceError, match=r"pages\.parquet can't be read"):
            read_parquet(path)
    data_end = len(whole) // 2
    for _ in range(20):
        damaged = bytearray(whole)
        damaged[chance.randrange(200, data_end)] ^= 0x10
        path.write_bytes(damaged)
        with pytest.raises(SourceError, match=r"pages\.parquet can't be read"):
            read_parquet(path)
    path.write_text("loc\n/a\n")
    with pytest.raises(SourceError, match=r"pages\.parquet can't be read as Parquet"):
        read_parquet(path)
