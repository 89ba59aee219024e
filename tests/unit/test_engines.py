"""The engine profiles: numbers with a source, and the strictest of several."""

from __future__ import annotations

import subprocess
import sys

import pytest

from sitemap_ops.engines import PROFILES, Limits, common_limits, profile
from sitemap_ops.errors import UsageError
from tests.services.shared import ROOT


def test_the_engines_asked_for_are_there() -> None:
    """Issue 3 item 4: seven engines and the limits of 2005."""
    assert set(PROFILES) == {"core", "google", "bing", "yandex", "baidu", "naver", "seznam", "legacy-2005"}


@pytest.mark.parametrize("name", PROFILES)
def test_each_says_where_and_when_it_was_read(name: str) -> None:
    """C-69: limits differ by engine and year, so each profile has a source and a date."""
    assert profile(name).source
    assert profile(name).date[:2] == "20"


@pytest.mark.parametrize(
    ("engines", "limits"),
    [
        ([], Limits(50_000, 52_428_800, 50_000)),
        (["google", "bing", "yandex"], Limits(50_000, 52_428_800, 50_000)),
        (["google", "baidu"], Limits(50_000, 10_485_759, 50_000)),
        (["legacy-2005"], Limits(50_000, 10_485_760, 1_000)),
        (["legacy-2005", "baidu"], Limits(50_000, 10_485_759, 1_000)),
    ],
)
def test_common_limits(engines: list[str], limits: Limits) -> None:
    """C-69, P-30, P-31, P-37, BD-01: the strictest of those named, and never laxer than the protocol."""
    assert common_limits(engines) == limits


def test_unknown_engine() -> None:
    """A mistyped engine is answered with the nearest name."""
    with pytest.raises(UsageError, match=r"no engine 'gogle'.*Did you mean 'google'"):
        profile("gogle")


def test_baidu_reads_no_index() -> None:
    """BD-02."""
    assert not profile("baidu").index
    assert all(one.index for one in PROFILES.values() if one.name != "baidu")


def test_light_to_import() -> None:
    """Sharding and the site file import it: no lxml, pandas, pyarrow or network with it."""
    code = (
        "import sys, sitemap_ops.engines; print(*{'lxml', 'pandas', 'pyarrow', 'numpy', 'urllib3'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
