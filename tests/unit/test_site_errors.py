"""What the loader of the site file says when it refuses: order, files, secrets, what isn't built yet."""

from __future__ import annotations

from pathlib import Path

import pytest

from sitemap_ops.errors import SiteFileError
from sitemap_ops.site import load_site
from sitemap_ops.site.document import MAX_BYTES

TOP = """\
site: shop
base_url: https://www.example.com/
target: public
"""
SECTIONS = """\
sections:
  - name: pages
    source: {type: csv, path: pages.csv}
"""


def mistakes(folder: Path, content: str | bytes) -> list[str]:
    """What the loader says of a file with this content, one sentence each."""
    path = folder / "shop.yaml"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(SiteFileError) as raised:
        load_site(path)
    assert raised.value.exit_code == 2
    return str(raised.value).splitlines()


def test_all_mistakes_are_reported_in_file_order(tmp_path):
    """Several mistakes, of every part of the loader, come together, one a line."""
    text = """\
site: Shop
base_url: example.com
target: ${NOPE}
names: changing
engine: flink
urls: {charset: klingon}
guards: {max_drop: 30, min_url: 1}
names: stable
sections:
  - nmae: a
    source: {type: csv}
  - name: b
    source: {type: sql, query: 5}
    priority: -1
"""
    places = [said.split(" ")[1:4] for said in mistakes(tmp_path, text)]
    assert [" ".join(place) for place in places] == [
        "line 1: site", "line 2: base_url", "line 3: target", "line 4: names", "line 5: engine",
        "line 6: urls.charset", "line 7: guards.max_drop", "line 7: guards.min_url", "line 8: names",
        "line 10: sections[0].nmae", "line 11: sections[0].source.path", "line 13: sections[1].source.query",
        "line 13: sections[1].source.conn_id", "line 14: sections[1].priority",
    ]  # fmt: skip


def test_an_empty_value_asks_for_nothing(tmp_path):
    """A key may be there without a value, or with an empty list."""
    path = tmp_path / "shop.yaml"
    path.write_text(TOP + "engine_sets: []\nfresh: null\nnotify:\n" + SECTIONS + "    track: []\n")
    assert load_site(path).fresh is None


SECRETS = {
    "userinfo-in-target": "target: s3://AKIA:hunter2@bucket/",
    "userinfo-in-other-scheme": "state: ftp://user:hunter2/x@host/",
    "userinfo-in-address": "files_url: https://user:hunter2@host/",
    "token-in-query": "files_url: https://host/?token=hunter2",
    "password-key": "password: hunter2",
    "key-id": "aws_secret_access_key: hunter2",
    "conn-key": "conn: hunter2",
    "address-as-id": "aws_conn_id: aws://AKIA:hunter2@/",
    "environment": "index: ${SECRET}",
    "environment-default": "schedule: ${SECRET}",
    "environment-in-list": "formats: ${SECRET}",
}


@pytest.mark.parametrize("line", SECRETS.values(), ids=SECRETS.keys())
def test_no_message_holds_a_secret(tmp_path, monkeypatch, line):
    """Credentials in an address or under a telling key, and what the environment held, are refused but not shown."""
    monkeypatch.setenv("SECRET", "hunter2 x")
    said = mistakes(tmp_path, TOP.replace("target: public", "") + line + "\n" + SECTIONS)
    assert "hunter2" not in "\n".join(said)


@pytest.mark.parametrize("key", ["password", "db_password", "aws_secret_access_key", "api_key", "conn", "token", "dsn"])
def test_keys_for_secrets_lead_to_connections(tmp_path, key):
    """Who looks for a place for a secret learns where it belongs."""
    (said,) = mistakes(tmp_path, TOP + f"{key}: x\n" + SECTIONS)
    assert said == (
        f"shop.yaml line 4: {key} is not a known key: no secret belongs in the file,"
        " put it into a connection and name that by its id."
    )


class TestFiles:
    def test_empty(self, tmp_path):
        """An empty file, or one of comments, says how to start."""
        for content in ("", "# nothing yet\n", "---\n"):
            (said,) = mistakes(tmp_path, content)
            assert "start" in said

    def test_not_utf8(self, tmp_path):
        """A wrong byte is told with its line."""
        (said,) = mistakes(tmp_path, TOP.encode() + b"index: \xfc.xml\n")
        assert said.startswith("shop.yaml line 4: byte 68 is not UTF-8")

    def test_too_large(self, tmp_path):
        """A file over 1 MiB is no site file, and is not parsed."""
        (said,) = mistakes(tmp_path, b"#" * (MAX_BYTES + 1))
        assert "larger than 1 MiB" in said

    @pytest.mark.parametrize("name", ["absent.yaml", ".", "\0", "a" * 300])
    def test_unreadable(self, tmp_path, name):
        """A path that can't be read is a sentence, not a traceback."""
        with pytest.raises(SiteFileError, match=r"check the path|give the path"):
            load_site(tmp_path / name)

    def test_environment_bytes(self, tmp_path, monkeypatch):
        """A variable whose bytes are not UTF-8 is refused where it is used."""
        monkeypatch.setenv("ODD", b"\xff".decode("utf-8", "surrogateescape"))
        (said,) = mistakes(tmp_path, TOP.replace("public", "${ODD}") + SECTIONS)
        assert said.startswith("shop.yaml line 3: target needs the environment variable ODD, whose value is not UTF-8")
