"""Telling the engines' APIs: each request as documented, each documented answer understood, no secret shown."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sitemap_ops.credentials import Credentials
from sitemap_ops.notify import client
from sitemap_ops.notify.indexnow import MAX_BATCHES
from sitemap_ops.storage import Headers
from sitemap_ops.storage.folder import FolderStore
from tests.notifying import INDEXES, codes, credentials_of, told
from tests.services.engines import (
    BING_KEY,
    GOOGLE_TOKEN,
    INDEXNOW_KEY,
    YANDEX_TOKEN,
    Engines,
    Reply,
    bing_error,
    engines_service,
    google_error,
    service_account,
    yandex_error,
)

CHANNELS = ("indexnow", "yandex", "google", "bing")
CHANGED = [f"https://www.example.com/p/{number}" for number in range(3)]


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The waits that were asked for; none is waited."""
    waited: list[float] = []
    monkeypatch.setattr(client, "sleep", waited.append)
    return waited


@pytest.fixture
def engines(pauses: list[float]) -> Iterator[Engines]:
    """The APIs; whatever is sent to them has to be as documented."""
    with engines_service() as service:
        yield service
    assert service.faults == []


class TestIndexNow:
    def test_key_and_changed_urls(self, tmp_path: Path, engines: Engines) -> None:
        """IN-01 to IN-05: the key lies in the target before the call; 202 is as good as 200."""
        for _ in range(2):
            result = told(tmp_path, engines, "indexnow", changed=CHANGED)
            assert (result["outcome"], result["sent"], result["findings"]) == ("told", 3, [])
        assert [each.json()["urlList"] for each in engines.asked] == [CHANGED, CHANGED]
        assert (tmp_path / "public" / f"{INDEXNOW_KEY}.txt").read_bytes() == INDEXNOW_KEY.encode()

    def test_batches_of_ten_thousand(self, tmp_path: Path, engines: Engines) -> None:
        """IN-04: 25,000 URLs are three calls, in order, none twice."""
        urls = [f"https://www.example.com/{number}" for number in range(25_000)]
        result = told(tmp_path, engines, "indexnow", changed=iter(urls), entries=100_000)
        sent = [each.json()["urlList"] for each in engines.asked]
        assert [len(batch) for batch in sent] == [10_000, 10_000, 5_000]
        assert [url for batch in sent for url in batch] == urls
        assert (result["sent"], result["batches"], result["findings"]) == (25_000, 3, [])

    def test_no_more_than_so_many_batches(
        self, tmp_path: Path, engines: Engines, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """IN-06: a change of everything does not become an endless submission; what was left out is told."""
        monkeypatch.setattr("sitemap_ops.notify.indexnow.MAX_URLS", 2)
        urls = (f"https://www.example.com/{number}" for number in range(10**9))
        result = told(tmp_path, engines, "indexnow", changed=urls)
        assert (len(engines.asked), result["sent"]) == (MAX_BATCHES, 2 * MAX_BATCHES)
        assert codes(result) == ["indexnow-bulk"]

    def test_nothing_changed(self, tmp_path: Path, engines: Engines) -> None:
        """IN-06: a publish that changes nothing sends nothing."""
        result = told(tmp_path, engines, "indexnow")
        assert (result["outcome"], result["sent"], engines.asked) == ("told", 0, [])

    def test_only_the_hosts_own_urls(self, tmp_path: Path, engines: Engines) -> None:
        """IN-04, Y-28: another host needs a key of its own; its URLs are left out and counted."""
        urls = [*CHANGED, "https://m.example.com/a", "https://www.example.com.evil.example/b"]
        result = told(tmp_path, engines, "indexnow", changed=urls)
        assert engines.asked[0].json()["urlList"] == CHANGED
        assert (result["sent"], codes(result)) == (3, ["indexnow-host"])
        assert result["findings"][0]["advice"].startswith("2 changed URLs")

    def test_scope_of_a_key_in_a_folder(self, tmp_path: Path, engines: Engines) -> None:
        """IN-02: a key below the root speaks for its folder alone."""
        store = FolderStore(tmp_path / "public")
        located = credentials_of(
            engines,
            indexnow=Credentials(
                "indexnow", engines.url, INDEXNOW_KEY, {"key_location": f"https://www.example.com/p/{INDEXNOW_KEY}.txt"}
            ),
        )
        store.put(f"p/{INDEXNOW_KEY}.txt", INDEXNOW_KEY.encode(), Headers("text/plain"))
        urls = [*CHANGED, "https://www.example.com/help"]
        result = told(tmp_path, engines, "indexnow", changed=urls, target=store, held=located)
        assert engines.asked[0].json()["urlList"] == CHANGED
        assert codes(result) == ["indexnow-scope"]
        assert store.get(f"{INDEXNOW_KEY}.txt") is None

    def test_files_on_another_host(self, tmp_path: Path, engines: Engines) -> None:
        """IN-02: the key has to lie on the pages' host; where the target is another one, nothing is sent in vain."""
        result = told(tmp_path, engines, "indexnow", changed=CHANGED, files_url="https://files.example.net/")
        assert (result["outcome"], codes(result)) == ("failed", ["indexnow-keyfile", "notify-failed"])
        assert engines.asked == []

    def test_wrong_key_file_is_put_right(self, tmp_path: Path, engines: Engines) -> None:
        """IN-02: the file holds exactly the key; one with a line end or an older key is replaced."""
        store = FolderStore(tmp_path / "public")
        store.put(f"{INDEXNOW_KEY}.txt", b"\xef\xbb\xbf" + INDEXNOW_KEY.encode() + b"\n", Headers("text/plain"))
        assert told(tmp_path, engines, "indexnow", changed=CHANGED)["outcome"] == "told"
        assert store.get(f"{INDEXNOW_KEY}.txt")[0] == INDEXNOW_KEY.encode()  # type: ignore[index]

    @pytest.mark.parametrize("key", ["", "short", "with_underscore", "x" * 129, "ключ-ключ"])
    def test_wrong_key(self, tmp_path: Path, engines: Engines, key: str) -> None:
        """IN-01: 8 to 128 characters of a-z, A-Z, 0-9 and the dash; anything else is told before any call."""
        held = credentials_of(engines, indexnow=Credentials("indexnow", engines.url, key))
        result = told(tmp_path, engines, "indexnow", changed=CHANGED, held=held)
        assert (codes(result), engines.asked) == (["indexnow-key", "notify-failed"], [])

    @pytest.mark.parametrize(
        ("status", "words"),
        [
            (400, "not in the protocol's form"),
            (403, "can't fetch https://www.example.com/"),
            (422, "do not belong to the host"),
        ],
    )
    def test_refusals_are_explained_and_not_repeated(
        self, tmp_path: Path, engines: Engines, pauses: list[float], status: int, words: str
    ) -> None:
        """IN-05: 400, 403 and 422 stay what they are: one call, one sentence."""
        engines.answer_next("indexnow", Reply(status))
        result = told(tmp_path, engines, "indexnow", changed=CHANGED)
        assert (codes(result), len(engines.asked), pauses) == (["notify-failed"], 1, [])
        assert f"answers {status}" in result["told"] and words in result["told"]

    def test_429_backs_off_for_as_long_as_it_says(self, tmp_path: Path, engines: Engines, pauses: list[float]) -> None:
        """IN-05: Retry-After is waited for, then the same batch is sent again and the rest follows."""
        engines.answer_next("indexnow", Reply(429, headers={"Retry-After": "7"}), Reply(429))
        assert told(tmp_path, engines, "indexnow", changed=CHANGED)["outcome"] == "told"
        assert (pauses, len(engines.asked)) == ([7.0, 2.0], 3)

    def test_429_that_lasts(self, tmp_path: Path, engines: Engines, pauses: list[float]) -> None:
        """IN-05: the patience is bounded; what was taken before is told."""
        urls = [f"https://www.example.com/{number}" for number in range(10_001)]
        engines.answer_next("indexnow", Reply(202), Reply(429, headers={"Retry-After": "3600"}))
        result = told(tmp_path, engines, "indexnow", changed=urls)
        assert (result["outcome"], pauses, len(engines.asked)) == ("failed", [], 2)
        assert "429: too many requests" in result["told"] and "10,000 URLs before were taken" in result["told"]

    def test_bulk(self, tmp_path: Path, engines: Engines) -> None:
        """IN-06: when more than half of the site changes at once, that is told."""
        assert codes(told(tmp_path, engines, "indexnow", changed=CHANGED, entries=6)) == []
        assert codes(told(tmp_path, engines, "indexnow", changed=CHANGED, entries=5)) == ["indexnow-bulk"]


class TestYandex:
    def test_adds_what_is_missing(self, tmp_path: Path, engines: Engines) -> None:
        """Y-25: user id, host id, list, then one POST for each index that is not there; a second publish adds none."""
        assert told(tmp_path, engines, "yandex")["added"] == INDEXES
        assert list(engines.added) == INDEXES
        assert told(tmp_path, engines, "yandex")["added"] == []
        assert len([each for each in engines.asked if each.method == "POST"]) == 2

    def test_added_by_someone_meanwhile(self, tmp_path: Path, engines: Engines) -> None:
        """Y-25: 409 SITEMAP_ALREADY_ADDED is what was wanted; nothing is repeated, and it is not ours to delete."""
        engines.answer_next(
            "yandex", Reply(json={"user_id": 4711}), _hosts(engines), Reply(json={"sitemaps": [], "count": 0})
        )
        engines.added[INDEXES[0]] = "theirs"
        result = told(tmp_path, engines, "yandex")
        assert (result["outcome"], result["added"]) == ("told", INDEXES[1:])
        told(tmp_path, engines, "yandex", indexes=INDEXES[1:])
        assert engines.added == {INDEXES[0]: "theirs", INDEXES[1]: "c7-fe:80-c1"}

    def test_takes_away_only_its_own(self, tmp_path: Path, engines: Engines) -> None:
        """Y-26: an index of ours that is gone is deleted, what someone else added is not."""
        engines.added["https://www.example.com/hand-made.xml"] = "theirs"
        told(tmp_path, engines, "yandex")
        result = told(tmp_path, engines, "yandex", indexes=INDEXES[:1])
        assert result["deleted"] == INDEXES[1:]
        assert list(engines.added) == ["https://www.example.com/hand-made.xml", INDEXES[0]]

    def test_deleted_by_hand_before(self, tmp_path: Path, engines: Engines) -> None:
        """Y-26: 404 SITEMAP_NOT_ADDED on a delete is what was wanted."""
        told(tmp_path, engines, "yandex")
        del engines.added[INDEXES[1]]
        assert told(tmp_path, engines, "yandex", indexes=INDEXES[:1])["deleted"] == INDEXES[1:]

    def test_long_list_is_read_page_by_page(self, tmp_path: Path, engines: Engines) -> None:
        """Y-26: 100 a page; the next starts after the last one's id. What is on the third page is not added again."""
        engines.added |= {f"https://www.example.com/s{number}.xml": f"id-{number}" for number in range(230)}
        engines.added |= {url: f"id-{url}" for url in INDEXES}
        assert told(tmp_path, engines, "yandex")["added"] == []
        assert [each.query.get("offset") for each in engines.asked if each.query] == [None, ["id-99"], ["id-199"]]

    def test_what_was_added_before_a_failure_is_remembered(self, tmp_path: Path, engines: Engines) -> None:
        """Y-26: an index that was added in a run that failed then is still ours to delete later."""
        before = [Reply(json={"user_id": 4711}), _hosts(engines), Reply(json={"sitemaps": [], "count": 0})]
        engines.answer_next("yandex", *before, Reply(201, {"sitemap_id": "first"}), yandex_error(429, "QUOTA_EXCEEDED"))
        assert told(tmp_path, engines, "yandex")["outcome"] == "failed"
        assert json.loads((tmp_path / "state/notify/yandex.json").read_text())["added"] == {INDEXES[0]: "first"}

    @pytest.mark.parametrize(
        ("status", "code", "words"),
        [
            (400, "ENTITY_VALIDATION_ERROR", "report this"),
            (400, "FIELD_VALIDATION_ERROR", "report this"),
            (400, "INVALID_URL", "on the site's own host"),
            (403, "ACCESS_FORBIDDEN", "webmaster:verify"),
            (403, "INVALID_OAUTH_TOKEN", "put a new one"),
            (403, "INVALID_USER_ID", "another user's"),
            (404, "HOST_NOT_FOUND", "add it"),
            (404, "HOST_NOT_INDEXED", "next publish"),
            (404, "HOST_NOT_LOADED", "may take weeks"),
            (404, "HOST_NOT_VERIFIED", "verify it"),
            (429, "QUOTA_EXCEEDED", "quota is used up"),
            (405, "METHOD_NOT_ALLOWED", "answers 405 METHOD_NOT_ALLOWED some string"),
        ],
    )
    def test_errors_are_explained_and_not_repeated(
        self, tmp_path: Path, engines: Engines, pauses: list[float], status: int, code: str, words: str
    ) -> None:
        """Y-25, Y-26: each documented error is one warning that says what to do; a used-up quota is not asked again."""
        engines.answer_next("yandex", yandex_error(status, code))
        result = told(tmp_path, engines, "yandex")
        assert (codes(result), len(engines.asked), pauses) == (["notify-failed"], 1, [])
        assert code in result["told"] and words in result["told"]

    def test_too_many_requests_is_tried_again(self, tmp_path: Path, engines: Engines, pauses: list[float]) -> None:
        """Y-26: unlike the quota, TOO_MANY_REQUESTS_ERROR passes."""
        engines.answer_next("yandex", yandex_error(429, "TOO_MANY_REQUESTS_ERROR"))
        assert told(tmp_path, engines, "yandex")["outcome"] == "told"
        assert pauses == [1.0]

    def test_site_that_is_not_verified_or_not_there(self, tmp_path: Path, engines: Engines) -> None:
        """Y-25: the site's own host has to be in the account; another scheme's host is another site."""
        engines.host_verified = False
        assert "not verified" in told(tmp_path, engines, "yandex")["told"]
        assert (
            "does not have https://shop.example.com/"
            in told(tmp_path, engines, "yandex", base_url="https://shop.example.com/")["told"]
        )

    def test_damaged_memory(self, tmp_path: Path, engines: Engines) -> None:
        """What was remembered can't be read: nothing is deleted on a guess, and the publish is told as ever."""
        told(tmp_path, engines, "yandex")
        (tmp_path / "state/notify/yandex.json").write_text('{"added": [1')
        assert told(tmp_path, engines, "yandex", indexes=INDEXES[:1])["deleted"] == []
        assert list(engines.added) == INDEXES


def _hosts(engines: Engines) -> Reply:
    host = {"host_id": "https:www.example.com:443", "ascii_host_url": "https://www.example.com/", "verified": True}
    return Reply(json={"hosts": [host]})


class TestGoogle:
    def test_submits_each_index(self, tmp_path: Path, engines: Engines) -> None:
        """G-61: one token, the property that holds the site, a PUT for each index, fully percent-encoded."""
        result = told(tmp_path, engines, "google")
        assert (result["outcome"], result["property"]) == ("told", "https://www.example.com/")
        assert list(engines.submitted) == INDEXES
        assert len(engines.of("token")) == 1
        put = next(each for each in engines.asked if each.method == "PUT")
        assert put.path == (
            "/webmasters/v3/sites/https%3A%2F%2Fwww.example.com%2F/sitemaps/https%3A%2F%2Fwww.example.com%2Fsitemap.xml"
        )

    def test_what_google_says_is_shown(self, tmp_path: Path, engines: Engines) -> None:
        """G-62: errors and warnings that Google counted when it last read an index; int64 comes as text."""
        engines.submitted[INDEXES[0]] = {
            "path": INDEXES[0], "isPending": False, "isSitemapsIndex": True, "lastDownloaded": "2026-07-08T01:02:03Z",
            "errors": "3", "warnings": "1",
        }  # fmt: skip
        result = told(tmp_path, engines, "google")
        assert f"3 errors and 1 warnings of {INDEXES[0]}" in result["told"]
        assert result["seen"] == [
            {"index": INDEXES[0], "errors": 3, "warnings": 1, "pending": False, "read": "2026-07-08T01:02:03Z"},
            {"index": INDEXES[1], "errors": 0, "warnings": 0, "pending": True, "read": None},
        ]

    @pytest.mark.parametrize(
        ("properties", "chosen"),
        [
            ({"sc-domain:example.com": "siteFullUser"}, "sc-domain:example.com"),
            ({"sc-domain:com": "siteOwner", "sc-domain:example.com": "siteOwner"}, "sc-domain:example.com"),
            ({"sc-domain:example.com": "siteOwner", "https://www.example.com/": "siteFullUser"}, "https://www.example.com/"),
            ({"https://www.example.com/": "siteUnverifiedUser", "sc-domain:example.com": "siteOwner"},
             "sc-domain:example.com"),
            ({"http://www.example.com/": "siteOwner", "sc-domain:ample.com": "siteOwner"}, None),
            ({"https://www.example.com/": "siteRestrictedUser"}, None),
            ({}, None),
        ],
    )  # fmt: skip
    def test_which_property(
        self, tmp_path: Path, engines: Engines, properties: dict[str, str], chosen: str | None
    ) -> None:
        """G-61: the narrowest property that covers the site and that may be submitted to; else what to do is told."""
        engines.properties = properties
        result = told(tmp_path, engines, "google")
        assert result.get("property") == chosen
        if chosen is None:
            assert codes(result) == ["notify-failed"]
            assert "sitemaps@project.iam.gserviceaccount.com" in result["told"]

    def test_named_property(self, tmp_path: Path, engines: Engines) -> None:
        """The connection may name the property, and then nobody looks for one."""
        engines.properties = {"sc-domain:example.com": "siteOwner", "https://www.example.com/": "siteOwner"}
        extra = {"keyfile_dict": service_account(engines), "site_url": "sc-domain:example.com"}
        held = credentials_of(engines, google=Credentials("google", engines.url, None, extra))
        assert told(tmp_path, engines, "google", held=held)["property"] == "sc-domain:example.com"
        assert not any(each.path.endswith("/sites") for each in engines.asked)

    @pytest.mark.parametrize("form", ["dict", "text", "old prefix", "path", "password"])
    def test_where_the_key_is(self, tmp_path: Path, engines: Engines, form: str) -> None:
        """A Google connection keeps the service account's key in one of several places."""
        key = service_account(engines)
        (tmp_path / "key.json").write_text(json.dumps(key))
        extras: dict[str, dict[str, Any]] = {
            "dict": {"keyfile_dict": key},
            "text": {"keyfile_dict": json.dumps(key)},
            "old prefix": {"extra__google_cloud_platform__keyfile_dict": json.dumps(key)},
            "path": {"key_path": str(tmp_path / "key.json")},
            "password": {},
        }
        token = json.dumps(key) if form == "password" else None
        held = credentials_of(engines, google=Credentials("google", engines.url, token, extras[form]))
        assert told(tmp_path, engines, "google", held=held)["outcome"] == "told"

    @pytest.mark.parametrize(
        ("extra", "words"),
        [
            ({}, "holds no service account's key"),
            ({"keyfile_dict": "not JSON"}, "holds no service account's key"),
            ({"keyfile_dict": {"type": "authorized_user"}}, "holds no service account's key"),
            ({"key_path": "/no/such/file.json"}, "holds no service account's key"),
            ({"keyfile_dict": {"client_email": "a@b", "private_key": "no key"}}, "can't be read"),
        ],
    )
    def test_no_key(self, tmp_path: Path, engines: Engines, extra: dict[str, Any], words: str) -> None:
        """A connection without a usable key is told before any call."""
        held = credentials_of(engines, google=Credentials("google", engines.url, None, extra))
        result = told(tmp_path, engines, "google", held=held)
        assert (codes(result), engines.asked) == (["notify-failed"], [])
        assert words in result["told"]

    @pytest.mark.parametrize(
        "reply",
        [
            Reply(400, {"error": "invalid_grant", "error_description": "Invalid JWT Signature."}),
            Reply(401, {"error": "invalid_client", "error_description": "The OAuth client was not found."}),
            Reply(200, {"id_token": "no access token"}),
            Reply(200, body=b"<html>a captive portal</html>"),
        ],
    )
    def test_no_token(self, tmp_path: Path, engines: Engines, reply: Reply) -> None:
        """A refused assertion is explained; the API itself is not called."""
        engines.answer_next("token", reply)
        result = told(tmp_path, engines, "google")
        assert (codes(result), engines.of("google")) == (["notify-failed"], [])
        assert "gives no token" in result["told"]
        assert str((reply.json or {}).get("error_description", "")) in result["told"]

    @pytest.mark.parametrize(
        ("reply", "words"),
        [
            (google_error(400, "Invalid value", "invalidParameter"), "400 Invalid value; the request is not"),
            (google_error(401, "Invalid Credentials", "authError"), "401 Invalid Credentials; the token"),
            (
                google_error(403, "Search Console API has not been used", "accessNotConfigured"),
                "enable the Search Console",
            ),
            (google_error(404, "Not found", "notFound"), "404 Not found; the property is not known"),
        ],
    )
    def test_errors_are_explained(self, tmp_path: Path, engines: Engines, reply: Reply, words: str) -> None:
        """G-61: Google's own sentence, and what to do."""
        engines.answer_next("google", reply)
        result = told(tmp_path, engines, "google")
        assert codes(result) == ["notify-failed"]
        assert words in result["told"]

    def test_quota_and_server_errors_are_tried_again(
        self, tmp_path: Path, engines: Engines, pauses: list[float]
    ) -> None:
        """429 and 5xx may pass; after four tries the channel gives up, with Google's sentence."""
        engines.answer_next("google", google_error(429, "Quota exceeded", "rateLimitExceeded"), Reply(503))
        assert told(tmp_path, engines, "google")["outcome"] == "told"
        assert pauses == [1.0, 2.0]
        engines.answer_next("google", *[google_error(500, "Backend Error", "backendError")] * 4)
        assert "500 Backend Error; the next publish" in told(tmp_path, engines, "google")["told"]
        assert pauses[2:] == [1.0, 2.0, 4.0]

    def test_list_that_fails_spoils_nothing(self, tmp_path: Path, engines: Engines) -> None:
        """The submit is what counts: what Google says of the indexes is shown where it can be had."""
        entry = {"siteUrl": "https://www.example.com/", "permissionLevel": "siteOwner"}
        refused = google_error(403, "no", "forbidden")
        engines.answer_next("google", Reply(200, {"siteEntry": [entry]}), Reply(204), Reply(204), refused)
        result = told(tmp_path, engines, "google")
        assert (result["outcome"], result["seen"]) == ("told", [])


class TestBing:
    def test_submits_each_index(self, tmp_path: Path, engines: Engines) -> None:
        """B-07: SubmitFeed for each index, as in the JSON request sample."""
        assert told(tmp_path, engines, "bing")["submitted"] == INDEXES
        assert [each.json() for each in engines.asked] == [
            {"siteUrl": "https://www.example.com/", "feedUrl": index} for index in INDEXES
        ]

    def test_site_as_the_account_has_it(self, tmp_path: Path, engines: Engines) -> None:
        """The account may know the site by another address."""
        bing = Credentials("bing", engines.url, BING_KEY, {"site_url": "http://example.com"})
        told(tmp_path, engines, "bing", held=credentials_of(engines, bing=bing))
        assert {each.json()["siteUrl"] for each in engines.asked} == {"http://example.com"}

    @pytest.mark.parametrize(
        ("code", "name"),
        [
            (1, "InternalError"), (2, "UnknownError"), (3, "InvalidApiKey"), (4, "ThrottleUser"), (5, "ThrottleHost"),
            (6, "UserBlocked"), (7, "InvalidUrl"), (8, "InvalidParameter"), (9, "TooManySites"), (10, "UserNotFound"),
            (11, "NotFound"), (13, "NotAllowed"), (14, "NotAuthorized"), (15, "UnexpectedState"), (16, "Deprecated"),
        ],
    )  # fmt: skip
    def test_errors_are_explained(self, tmp_path: Path, engines: Engines, code: int, name: str) -> None:
        """B-07: every code of ApiErrorCode, by its name and with what to do."""
        engines.answer_next("bing", bing_error(code, name))
        result = told(tmp_path, engines, "bing")
        assert (codes(result), len(engines.asked)) == (["notify-failed"], 1)
        assert f"{name}: " in result["told"]

    def test_already_there(self, tmp_path: Path, engines: Engines) -> None:
        """AlreadyExists is what was wanted."""
        engines.answer_next("bing", bing_error(12, "AlreadyExists"))
        assert told(tmp_path, engines, "bing")["outcome"] == "told"

    def test_answer_that_is_none(self, tmp_path: Path, engines: Engines) -> None:
        """A page of some proxy is shown by its start, on one line."""
        engines.answer_next("bing", Reply(407, body=b"<html>\n<b>Proxy login</b>"))
        assert told(tmp_path, engines, "bing")["told"].endswith("it answers 407 <html> <b>Proxy login</b>.")


@pytest.mark.parametrize("channel", CHANNELS)
class TestEveryChannel:
    def test_api_out_of_reach(self, tmp_path: Path, engines: Engines, pauses: list[float], channel: str) -> None:
        """C-107: an API that is down is a warning; the tries and the waits are bounded."""
        engines.answer_next(channel, *[Reply(cut=True)] * 40)
        engines.answer_next("token", *[Reply(cut=True)] * 40)
        result = told(tmp_path, engines, channel, changed=CHANGED)
        assert (result["outcome"], codes(result), pauses) == ("failed", ["notify-failed"], [1.0, 2.0, 4.0])
        assert "can't be reached" in result["told"] and len(engines.asked) == 4

    def test_lost_answer_is_asked_for_again(self, tmp_path: Path, engines: Engines, channel: str) -> None:
        """Every request may arrive twice without harm, so that a cut connection costs nothing."""
        engines.answer_next(channel, Reply(cut=True))
        assert told(tmp_path, engines, channel, changed=CHANGED)["outcome"] == "told"

    def test_answer_that_is_no_json(self, tmp_path: Path, engines: Engines, channel: str) -> None:
        """C-107: whatever an API answers, in whatever shape, nothing is raised."""
        for body in (b"\xff\xfe", b"[]", b'{"error": "text", "hosts": 1, "sitemap": {}}', b"null"):
            for status in (200, 403, 418):
                engines.answer_next(channel, Reply(status, body=body))
                assert told(tmp_path, engines, channel, changed=CHANGED)["outcome"] in ("told", "failed")

    def test_redirect_is_not_followed(self, tmp_path: Path, engines: Engines, channel: str) -> None:
        """Credentials go to the API that was meant and to no other address that it names."""
        engines.answer_next(channel, Reply(302, headers={"Location": f"{engines.url}/elsewhere"}))
        assert told(tmp_path, engines, channel, changed=CHANGED)["outcome"] == "failed"
        assert not any(each.path == "/elsewhere" for each in engines.asked)

    def test_no_connection(self, tmp_path: Path, engines: Engines, channel: str) -> None:
        """C-107: a connection that is not there, or that can't be read, is a warning."""
        held = credentials_of(engines)
        del held.credentials[channel]
        assert codes(told(tmp_path, engines, channel, held=held)) == ["notify-failed"]

    def test_no_secret_is_shown(
        self, tmp_path: Path, engines: Engines, caplog: pytest.LogCaptureFixture, channel: str
    ) -> None:
        """No key or token is in a result, a log line of any level, or a repr; an API that echoes them is no leak."""
        caplog.set_level(logging.DEBUG)
        secrets = {"indexnow": INDEXNOW_KEY, "yandex": YANDEX_TOKEN, "google": GOOGLE_TOKEN, "bing": BING_KEY}
        key_lines = service_account(engines)["private_key"].splitlines()
        echo = Reply(400, {"error": {"message": f"bad {secrets[channel]}"}, "error_message": secrets[channel],
                           "Message": secrets[channel]}, body=secrets[channel].encode())  # fmt: skip
        shown = []
        for replies in ([], [echo], [Reply(500)] * 4, [Reply(cut=True)] * 4):
            engines.answer_next(channel, *replies)
            shown.append(repr(told(tmp_path, engines, channel, changed=CHANGED)))
        everything = "\n".join([*shown, caplog.text, repr(credentials_of(engines))])
        assert "urllib3" in caplog.text
        for needle in ("S3cr3t", secrets[channel], key_lines[1], key_lines[5]):
            assert needle not in everything
