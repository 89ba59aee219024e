"""The keys `audit` and `notify` of the site file: what they take, and what is said of what they don't."""

from __future__ import annotations

from pathlib import Path

import pytest

from sitemap_ops.errors import SiteFileError
from sitemap_ops.site import Site, load_site

SITE = """\
site: shop
base_url: https://www.example.com/
target: public
{line}
sections:
  - name: pages
    source: {{type: csv, path: pages.csv}}
"""


def site_of(folder: Path, line: str) -> Site:
    path = folder / "shop.yaml"
    path.write_text(SITE.format(line=line), encoding="utf-8")
    return load_site(path)


def test_defaults_of_audit(tmp_path: Path) -> None:
    """An empty mapping asks for an audit with polite defaults; without the key there is none."""
    asked = site_of(tmp_path, "audit: {}").audit
    assert asked is not None
    assert (asked.sample, asked.seed, asked.rate, asked.concurrency, asked.slow) == (1_000, 1, 5.0, 4, 3.0)
    assert (asked.allow_private, asked.schedule) == (False, "@weekly")
    assert site_of(tmp_path, "").audit is None
    assert site_of(tmp_path, "audit: {schedule: null, rate: 0.5, sample: 0}").audit.schedule is None  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("audit: {sample: -1}", "audit.sample is -1, less than 0: write 0 or more."),
        ("audit: {sample: 1.5}", "audit.sample is 1.5, not a whole number: write it in digits, without quotes."),
        ("audit: {rate: 0}", "audit.rate is 0, not a number above 0: write one such as 5 or 0.5"),
        ("audit: {rate: fast}", "audit.rate is 'fast', not a number above 0: write one such as 5 or 0.5"),
        ("audit: {slow: true}", "audit.slow is true, not a number above 0: write one such as 5 or 0.5"),
        ("audit: {rate: .inf}", "not a number above 0"),
        ("audit: {concurrency: 0}", "audit.concurrency is 0, less than 1: write 1 or more."),
        ("audit: {concurrency: 65}", "audit.concurrency is 65, not 64 or less: more at once"),
        ("audit: {allow_private: perhaps}", "audit.allow_private is 'perhaps', not true or false"),
        ("audit: {schedule: sometimes}", "audit.schedule is 'sometimes', not a schedule"),
        ("audit: {samples: 3}", "audit.samples is not a known key: did you mean sample?"),
        ("audit: 5", "audit is 5, not a mapping"),
        ("notify: {robots: yes}", "notify.robots is 'yes', not print, check or publish"),
        ("notify: {indexnow: https://api.indexnow.org}", "notify.indexnow is an address, not the id of a connection"),
        ("notify: {ping: google}", "notify.ping is not a known key"),
    ],
)  # fmt: skip
def test_mistakes(tmp_path: Path, line: str, said: str) -> None:
    """Each mistake is one sentence with file, line and key."""
    with pytest.raises(SiteFileError) as raised:
        site_of(tmp_path, line)
    assert str(raised.value).startswith("shop.yaml line 4: ")
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


def test_notify_names_connections(tmp_path: Path) -> None:
    """Each channel is opt-in, by the id of a connection that holds its credentials."""
    asked = site_of(tmp_path, "notify: {robots: check, indexnow: in_conn, google: gsc}").notify
    assert asked is not None
    assert (asked.robots, asked.indexnow, asked.yandex, asked.google, asked.bing) == (
        "check",
        "in_conn",
        None,
        "gsc",
        None,
    )
