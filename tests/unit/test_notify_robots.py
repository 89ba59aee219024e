"""robots.txt: our lines in it, what the live one says, and writing it without touching anyone else's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sitemap_ops.errors import ConflictError
from sitemap_ops.notify import notify
from sitemap_ops.notify.robots_text import merged
from sitemap_ops.storage import Headers
from sitemap_ops.storage.folder import FolderStore
from tests.notifying import INDEXES, Held, codes, site_of
from tests.services.web import Answer, WebService, web_service

LINES = [f"Sitemap: {url}" for url in INDEXES]
OURS = b"# sitemap-ops begin shop\n" + "".join(f"{line}\n" for line in LINES).encode() + b"# sitemap-ops end shop\n"


def robots_result(folder: Path, mode: str, indexes: list[str], target: Any = None, **site: Any) -> dict[str, Any]:
    asked = site_of(folder, {"robots": mode}, **site)
    target = target or FolderStore(folder / "public")
    state = FolderStore(folder / "state")
    (result,) = notify(asked, indexes, lambda: iter(()), Held(), target, state)  # type: ignore[arg-type]
    return result


@pytest.fixture
def web() -> Iterator[WebService]:
    with web_service() as service:
        yield service


class TestMerged:
    @pytest.mark.parametrize(
        ("old", "new"),
        [
            (b"", OURS),
            (b"User-agent: *\nDisallow: /cart\n", b"User-agent: *\nDisallow: /cart\n\n" + OURS),
            (b"User-agent: *", b"User-agent: *\n\n" + OURS),
            (OURS, OURS),
            (b"# hello\n" + OURS.replace(b"sitemap-2", b"old") + b"User-agent: *\n",
             b"# hello\n" + OURS + b"User-agent: *\n"),
            (OURS.replace(b"# sitemap-ops end shop\n", b"") + b"Disallow: /x\n", OURS + b"Disallow: /x\n"),
        ],
        ids=["none", "rules", "no last line end", "as it should be", "older lines of ours", "end comment cut off"],
    )  # fmt: skip
    def test_our_lines(self, old: bytes, new: bytes) -> None:
        """P-48: full URLs, each on its line, apart from any group; all else stays where it was."""
        assert merged(old, LINES, "shop") == new

    def test_what_others_wrote_is_not_written_twice(self) -> None:
        """A line that someone wrote by hand, in whatever case, stays theirs."""
        by_hand = b"sitemap:https://www.example.com/sitemap.xml\r\nUser-agent: *\r\n"
        assert merged(by_hand, LINES, "shop") == by_hand + (
            b"\r\n# sitemap-ops begin shop\r\nSitemap: https://www.example.com/sitemap-2.xml\r\n"
            b"# sitemap-ops end shop\r\n"
        )
        both = by_hand + b"Sitemap: https://www.example.com/sitemap-2.xml\n"
        assert merged(both, LINES, "shop") == both

    def test_two_sites_in_one_file(self) -> None:
        """Each site's lines are its own, by its name."""
        once = merged(b"", LINES, "shop")
        twice = merged(once, ["Sitemap: https://www.example.com/blog.xml"], "blog")
        assert twice.startswith(once)
        assert merged(merged(twice, LINES[:1], "shop"), LINES, "shop") == twice

    @example(b"\r", LINES, LINES)
    @given(st.binary(max_size=200), st.sampled_from([LINES, LINES[:1]]), st.sampled_from([LINES, LINES[1:]]))
    def test_nothing_of_others_is_lost(self, old: bytes, first: list[str], then: list[str]) -> None:
        """For any bytes: they stay, in order; doing it again changes nothing; later lines take the place of ours."""
        once = merged(old, first, "shop")
        assert once.startswith(old)
        assert merged(once, first, "shop") == once
        assert merged(once, then, "shop").startswith(old)
        assert merged(merged(once, then, "shop"), first, "shop") == once


class TestPublish:
    def test_new_file(self, tmp_path: Path) -> None:
        """Where the site has none, it has one with our lines."""
        result = robots_result(tmp_path, "publish", INDEXES)
        assert (result["outcome"], result["written"], codes(result)) == ("told", True, [])
        assert (tmp_path / "public/robots.txt").read_bytes() == OURS
        assert robots_result(tmp_path, "publish", INDEXES)["written"] is False

    def test_file_that_forbids_the_index(self, tmp_path: Path) -> None:
        """Y-23: a rule of someone else's that shuts engines out of the index is told, and not changed."""
        store = FolderStore(tmp_path / "public")
        store.put("robots.txt", b"User-agent: Googlebot\nDisallow: /*.xml$\n", Headers("text/plain"))
        result = robots_result(tmp_path, "publish", INDEXES)
        assert codes(result) == ["robots-blocks-sitemap", "robots-blocks-sitemap"]
        assert (tmp_path / "public/robots.txt").read_bytes().startswith(b"User-agent: Googlebot\nDisallow: /*.xml$\n")

    def test_changed_meanwhile(self, tmp_path: Path) -> None:
        """A robots.txt that someone changes between reading and writing keeps their change; ours comes on top."""
        store = Racing(tmp_path / "public", races=2)
        store.put("robots.txt", b"# 0\n", Headers("text/plain"))
        assert robots_result(tmp_path, "publish", INDEXES, store)["written"] is True
        assert (tmp_path / "public/robots.txt").read_bytes() == b"# 2\n\n" + OURS

    def test_changed_again_and_again(self, tmp_path: Path) -> None:
        """After three lost races it is left alone, and that is a warning."""
        store = Racing(tmp_path / "public", races=99)
        store.put("robots.txt", b"# 0\n", Headers("text/plain"))
        assert codes(robots_result(tmp_path, "publish", INDEXES, store)) == ["notify-failed"]
        assert (tmp_path / "public/robots.txt").read_bytes() == b"# 3\n"

    @pytest.mark.parametrize("body", [b"\x1f\x8b\x08\x00", b"\xff\xfeU\x00"])
    def test_file_that_is_no_plain_text(self, tmp_path: Path, body: bytes) -> None:
        """What can't be read as text is not written to."""
        FolderStore(tmp_path / "public").put("robots.txt", body, Headers("text/plain"))
        assert codes(robots_result(tmp_path, "publish", INDEXES)) == ["notify-failed"]
        assert (tmp_path / "public/robots.txt").read_bytes() == body

    @pytest.mark.parametrize("files_url", ["https://www.example.com/maps/", "https://files.example.net/"])
    def test_target_that_is_not_the_root(self, tmp_path: Path, files_url: str) -> None:
        """RFC 9309: robots.txt counts at the root of the site's own host; anywhere else it is not published."""
        result = robots_result(tmp_path, "publish", INDEXES, files_url=files_url)
        assert codes(result) == ["notify-failed"]
        assert "robots: print" in result["told"]
        assert not (tmp_path / "public").exists()


class Racing(FolderStore):
    """A folder where someone else writes robots.txt just before each of our first puts."""

    def __init__(self, path: Path, races: int) -> None:
        super().__init__(path)
        self.left, self.done = races, 0

    def put(self, key: str, body: bytes, headers: Headers, **conditions: Any) -> Any:
        if self.left and any(conditions.values()):
            self.left -= 1
            self.done += 1
            super().put(key, f"# {self.done}\n".encode(), headers)
        return super().put(key, body, headers, **conditions)


def test_print(tmp_path: Path) -> None:
    """C-106: the line for robots.txt is always to be had, without any request."""
    result = robots_result(tmp_path, "print", INDEXES)
    assert (result["outcome"], result["lines"]) == ("told", LINES)
    assert result["told"].startswith("https://www.example.com/robots.txt")


class TestCheck:
    def check(self, tmp_path: Path, web: WebService, **site: Any) -> dict[str, Any]:
        given = {"base_url": web.url} | site
        files = str(given.get("files_url", web.url))
        return robots_result(tmp_path, "check", [f"{files}sitemap.xml", f"{files}sitemap-2.xml"], **given)

    def test_good(self, tmp_path: Path, web: WebService) -> None:
        """P-48: it names each index, with full URLs, anywhere in the file."""
        text = f"Sitemap: {web.url}sitemap.xml\nUser-agent: *\nDisallow: /x\nsitemap: {web.url}sitemap-2.xml\n"
        web.answers["/robots.txt"] = Answer(text.encode())
        result = self.check(tmp_path, web)
        assert (result["outcome"], result["findings"]) == ("told", [])

    @pytest.mark.parametrize(
        ("text", "found"),
        [
            ("Sitemap: {url}sitemap.xml\n", ["robots-sitemap-missing"]),
            ("User-agent: *\nDisallow:\n", ["robots-sitemap-missing", "robots-sitemap-missing"]),
            ("Sitemap: {url}sitemap.xml\nSitemap: {url}sitemap-2.xml\nSitemap: /sitemap.xml",
             ["robots-sitemap-relative"]),
            ("Sitemap: {url}sitemap.xml\nSitemap: {url}sitemap-2.xml\nUser-agent: YandexBot\nDisallow: /sitemap-2",
             ["robots-blocks-sitemap"]),
            ("Sitemap: {url}sitemap.xml\nSitemap: {url}sitemap-2.xml\n#" + "x" * 512_000, ["robots-too-large"]),
        ],
        ids=["one missing", "both missing", "relative", "forbidden to one engine", "too large"],
    )  # fmt: skip
    def test_what_is_wrong(self, tmp_path: Path, web: WebService, text: str, found: list[str]) -> None:
        """P-48, G-14, Y-14, Y-23: each fault under its own code, and the lines that are to be there."""
        web.answers["/robots.txt"] = Answer(text.format(url=web.url).encode())
        result = self.check(tmp_path, web)
        assert (result["outcome"], codes(result)) == ("told", found)
        assert result["lines"] == [f"Sitemap: {web.url}sitemap.xml", f"Sitemap: {web.url}sitemap-2.xml"]

    def test_none(self, tmp_path: Path, web: WebService) -> None:
        """RFC 9309: 4xx is a site without rules, which names no sitemap either."""
        assert codes(self.check(tmp_path, web)) == ["robots-sitemap-missing"] * 2

    def test_server_fault(self, tmp_path: Path, web: WebService) -> None:
        """RFC 9309: 5xx shuts crawlers out; that is told as what it is."""
        web.answers["/robots.txt"] = Answer(b"", 500)
        result = self.check(tmp_path, web)
        assert codes(result) == ["notify-failed"]
        assert "answers 500: engines take that as a ban" in result["told"]

    def test_nobody_answers(self, tmp_path: Path, web: WebService) -> None:
        """C-107: a site that can't be reached from here is a warning."""
        result = self.check(tmp_path, web, base_url="http://127.0.0.1:9/")
        assert codes(result) == ["notify-failed"]
        assert "Connection refused" in result["told"]

    def test_redirect(self, tmp_path: Path, web: WebService) -> None:
        """RFC 9309: a crawler follows five redirects for robots.txt, and so does the check."""
        web.answers["/robots.txt"] = Answer(b"", 301, {"Location": f"{web.url}r.txt"})
        web.answers["/r.txt"] = Answer("\n".join([f"Sitemap: {web.url}sitemap{n}.xml" for n in ("", "-2")]).encode())
        assert self.check(tmp_path, web)["findings"] == []

    def test_files_on_another_host(self, tmp_path: Path, web: WebService) -> None:
        """P-47: the site's own robots.txt has to name the index; the file host's must not forbid it."""
        with web_service() as files:
            named = "".join(f"Sitemap: {files.url}sitemap{n}.xml\n" for n in ("", "-2"))
            web.answers["/robots.txt"] = Answer(f"{named}User-agent: *\nDisallow: /sitemap".encode())
            files.answers["/robots.txt"] = Answer(b"User-agent: *\nAllow: /")
            assert codes(self.check(tmp_path, web, files_url=files.url)) == []
            files.answers["/robots.txt"] = Answer(b"User-agent: *\nDisallow: /sitemap-2")
            assert codes(self.check(tmp_path, web, files_url=files.url)) == ["robots-blocks-sitemap"] * 3


def test_store_that_refuses(tmp_path: Path) -> None:
    """C-107: a target that can't be written to is a warning with the store's own sentence."""

    class Refusing(FolderStore):
        def put(self, key: str, body: bytes, headers: Headers, **conditions: Any) -> Any:
            raise ConflictError("lost")

    result = robots_result(tmp_path, "publish", INDEXES, Refusing(tmp_path / "public"))
    assert (result["outcome"], codes(result)) == ("failed", ["notify-failed"])
