"""The site file (DESIGN 4): what a good one means."""

from __future__ import annotations

import codecs
import pickle
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pydantic import ValidationError

from sitemap_ops.errors import SiteFileError, UsageError
from sitemap_ops.site import CsvSource, RobotsTxt, Section, Site, SqlSource, load_site

MINIMAL = """\
site: shop
base_url: https://www.example.com/
target: public
sections:
  - name: pages
    source: {type: csv, path: pages.csv}
"""

DESIGN_EXAMPLE = """\
site: shop                                  # DAG id sitemaps__shop, file name prefix
base_url: https://www.example.com/          # what relative locs resolve against; the host all entries must have
files_url: https://www.example.com/         # where crawlers will fetch the files (default: base_url)
target: s3://shop-sitemaps/                 # or a folder: file:///srv/sitemaps/
state: s3://shop-private/sitemap-ops/       # current, releases, reports, rejects: never public
work: s3://shop-private/work/               # staging between tasks; default a local folder (one machine)
index: sitemap.xml                          # the main index's name; more get -2, -3; text and engine sets get a suffix
names: stable                               # stable (default) | immutable: see section 6
formats: [xml]                              # xml, txt
engine: local                               # local | spark
aws_conn_id: aws_default                    # Airflow connection; outside Airflow boto3's own credential chain
engines: [google, bing, yandex]             # one common set: the strictest file limits of all named apply
engine_sets: []                             # engines that get a set of their own (their content rules, e.g. yandex)
schedule: "@daily"
urls:
  charset: utf-8                            # or a legacy server charset (P-28)
  hosts: []                                 # further scheme://host[:port] that count as this site's
  drop_params: [utm_*, gclid, fbclid]       # [] by default: nothing is dropped unless named
  trailing_slash: keep                      # keep | add | remove
  include: []                               # glob or re: patterns on path+query; first match wins
  exclude: ["/cart/**"]
guards: {min_urls: 1, max_drop: 0.2, max_rejected: 0.05}
sections:
  - name: products
    source: {type: sql, conn_id: shop_db, query: "SELECT slug, id, updated_at FROM product WHERE live"}
    loc: "/p/{slug}-{id}"                   # a template over columns, or a column's name
    lastmod: updated_at
    lastmod_timezone: Europe/Istanbul       # for naive times; without it a naive time is published as a date
    changefreq: weekly                      # a constant, or a column's name
    priority: 0.8
  - name: pages
    source: {type: csv, path: pages.csv, encoding: utf-8-sig, delimiter: ","}
"""


def site_of(folder: Path, text: str = MINIMAL, more: str = "") -> Site:
    """The site of a file with this text; `more` are further lines of keys before the sections."""
    path = folder / "shop.yaml"
    path.write_text(text.replace("sections:", more + "\nsections:", 1), encoding="utf-8")
    return load_site(path)


class TestDefaults:
    def test_five_keys_are_enough(self, tmp_path):
        """A site that says where it is and where its pages are listed has everything else by default."""
        site = site_of(tmp_path)
        assert site.files_url == site.base_url == "https://www.example.com/"
        assert (site.index, site.names, site.formats, site.engine) == ("sitemap.xml", "stable", ("xml",), "local")
        assert (site.schedule, site.aws_conn_id, site.coarse_dates) == ("@daily", "aws_default", "drop")
        assert (site.guards.min_urls, site.guards.max_drop, site.guards.max_rejected) == (1, 0.2, 0.05)
        assert (site.retention.releases, site.retention.days) == (5, 30)
        assert site.urls.drop_params == ()
        assert site.sections[0].loc == "loc"
        assert site.sections[0].source == CsvSource(
            type="csv", path=str(tmp_path / "pages.csv"), aws_conn_id="aws_default"
        )

    def test_designs_example_is_understood(self, tmp_path):
        """The example of DESIGN 4, less what isn't built yet, means what its comments say."""
        site = site_of(tmp_path, DESIGN_EXAMPLE)
        products, pages = site.sections
        assert (site.dag_id, site.folder) == ("sitemaps__shop", tmp_path)
        assert site.state == "s3://shop-private/sitemap-ops/"
        assert isinstance(products.source, SqlSource)
        assert products.columns() == ("slug", "id", "updated_at")
        assert (products.loc_is_template, pages.loc_is_template) == (True, False)
        assert (products.priority_constant, products.changefreq_constant) == ("0.8", "weekly")
        assert pages.columns() == ("loc",)
        assert site.section("pages") is pages

    def test_an_unknown_section_is_told(self, tmp_path):
        """Asking for a section that isn't there names those that are."""
        with pytest.raises(UsageError, match=r"no section 'page': it has pages\."):
            site_of(tmp_path).section("page")

    def test_keys_without_a_value_count_as_left_out(self, tmp_path):
        """A key whose value was commented out keeps its default; where null means something it does."""
        site = site_of(
            tmp_path, more="urls:\nindex:\nschedule: null\naws_conn_id: ~\nguards: {max_drop: null, min_urls: }"
        )
        assert (site.index, site.urls.charset) == ("sitemap.xml", "utf-8")
        assert (site.schedule, site.aws_conn_id) == (None, None)
        assert (site.guards.max_drop, site.guards.min_urls, site.guards.max_rejected) == (None, None, 0.05)

    def test_state_lies_beside_the_file_for_a_folder_target(self, tmp_path):
        """A target folder needs no `state`: it is .sitemap-ops/<site> beside the site file."""
        assert site_of(tmp_path).state == f"file://{tmp_path}/.sitemap-ops/shop/"

    @pytest.mark.parametrize("cache", ["/var/cache/me", "relative", ""])
    def test_work_is_in_the_users_cache(self, tmp_path, monkeypatch, cache):
        """`work` defaults to the user's cache folder: XDG_CACHE_HOME where that is absolute, else ~/.cache."""
        monkeypatch.setenv("XDG_CACHE_HOME", cache)
        monkeypatch.setenv("HOME", "/home/me")
        expected = "/var/cache/me" if cache.startswith("/") else "/home/me/.cache"
        assert site_of(tmp_path).work == f"file://{expected}/sitemap-ops/"


class TestPlaces:
    @pytest.mark.parametrize(
        ("written", "stored"),
        [
            ("out", "file://{folder}/out/"),
            ("./a/../out/", "file://{folder}/out/"),
            ("with space", "file://{folder}/with%20space/"),
            ("/srv/sitemaps", "file:///srv/sitemaps/"),
            ("file:///srv/site%20maps/", "file:///srv/site%20maps/"),
            ("file://localhost/srv", "file:///srv/"),
            ("//srv/x", "file:///srv/x/"),
            ("~/maps", "file:///home/me/maps/"),
            ("s3://shop-sitemaps", "s3://shop-sitemaps/"),
            ("S3://shop-sitemaps/a/b", "s3://shop-sitemaps/a/b/"),
        ],
    )
    def test_target_is_a_canonical_uri(self, tmp_path, monkeypatch, written, stored):
        """Paths resolve against the site file's folder; every place ends in one slash."""
        monkeypatch.setenv("HOME", "/home/me")
        site = site_of(tmp_path, MINIMAL.replace("public", f'"{written}"'), more="state: s3://private/state")
        assert site.target == stored.format(folder=tmp_path)

    def test_paths_resolve_against_the_file_not_the_current_folder(self, tmp_path, monkeypatch):
        """Wherever a command is started, a relative path means the same; `..` is taken out, symbolic links are kept."""
        (tmp_path / "real").mkdir()
        (tmp_path / "link").symlink_to("real")
        (tmp_path / "real" / "shop.yaml").write_text(MINIMAL.replace("pages.csv", "../data/pages.csv"))
        monkeypatch.chdir(tmp_path)
        site = load_site("link/shop.yaml")
        assert site.folder == tmp_path / "link"
        assert site.target == f"file://{tmp_path}/link/public/"
        assert site.sections[0].source.path == f"{tmp_path}/data/pages.csv"

    @pytest.mark.parametrize(
        ("written", "stored"),
        [
            ("data/*.parquet", "{folder}/data/*.parquet"),
            ("file:///srv/a%20b.parquet", "/srv/a b.parquet"),
            ("s3://lake/pages/year=*/", "s3://lake/pages/year=*/"),
        ],
    )
    def test_sources_are_paths_or_s3(self, tmp_path, written, stored):
        """What is read is an absolute local path or an s3:// address; globs stay globs."""
        text = MINIMAL.replace("csv, path: pages.csv", f'parquet, path: "{written}"')
        assert site_of(tmp_path, text).sections[0].source.path == stored.format(folder=tmp_path)

    def test_sources_have_the_sites_connection_or_their_own(self, tmp_path):
        """`aws_conn_id` of a source overrides the site's, also with null."""
        for own, used in (("", "aws_shop"), (", aws_conn_id: lake", "lake"), (", aws_conn_id: null", None)):
            site = site_of(tmp_path, MINIMAL.replace("pages.csv}", f"pages.csv{own}}}"), more="aws_conn_id: aws_shop")
            assert site.sections[0].source.aws_conn_id == used

    @pytest.mark.parametrize(
        ("base", "files", "cross"),
        [
            ("https://www.example.com", "https://WWW.example.com:443/maps", False),
            ("https://www.example.com/", "https://cdn.example.com/", True),
            ("https://www.example.com/", "http://www.example.com/", True),
            ("https://www.example.com/", "https://www.example.com:8443/", True),
            ("https://örnek.com.tr/", "https://xn--rnek-4qa.com.tr/", False),
        ],
    )
    def test_files_on_another_host_are_noted(self, tmp_path, base, files, cross):
        """P-47: files may lie on another host, which `cross_host` tells; equal hosts may be written differently."""
        text = MINIMAL.replace("https://www.example.com/", base)
        assert site_of(tmp_path, text, more=f"files_url: {files}").cross_host is cross

    def test_web_addresses_are_canonical(self, tmp_path):
        """Scheme and host lower-case, host as A-label, no default port, a path."""
        more = "files_url: HTTPS://Faß.DE:443/maps\nurls: {hosts: ['HTTP://Shop.Example:80', 'https://[::1]:8443/']}"
        site = site_of(tmp_path, more=more)
        assert site.files_url == "https://xn--fa-hia.de/maps/"
        assert site.urls.hosts == ("http://shop.example", "https://[::1]:8443")


class TestEnvironment:
    def test_values_come_from_the_environment(self, tmp_path, monkeypatch):
        """`${VAR}` stands for the variable, with :- for a default where it is unset or empty; $${ is a literal ${."""
        monkeypatch.setenv("BUCKET", "shop-sitemaps")
        monkeypatch.setenv("EMPTY", "")
        monkeypatch.delenv("UNSET", raising=False)
        text = MINIMAL.replace("public", "s3://${BUCKET}/${UNSET:-live}/").replace(
            "pages.csv", "$${X}-${EMPTY:-a}$1.csv"
        )
        site = site_of(tmp_path, text, more="state: s3://${BUCKET}-private/${EMPTY}state/")
        assert site.target == "s3://shop-sitemaps/live/"
        assert site.state == "s3://shop-sitemaps-private/state/"
        assert site.sections[0].source.path == f"{tmp_path}/${{X}}-a$1.csv"

    def test_unquoted_numbers_are_numbers(self, tmp_path, monkeypatch):
        """A number may come from the environment; in quotes it stays text."""
        monkeypatch.setenv("DROP", "0.5")
        text = MINIMAL.replace("pages.csv}", 'pages.csv, encoding: "${ENCODING:-utf-8}"}')
        assert site_of(tmp_path, text, more="guards: {max_drop: ${DROP}}").guards.max_drop == 0.5

    @pytest.mark.parametrize(
        "value",
        ["x\nnames: immutable", "x, y: z}", "{a: b}", "*alias", "${OTHER}", "'x", "# none", "!!python/name:os.system"],
    )
    def test_a_value_is_never_yaml(self, tmp_path, monkeypatch, value):
        """What a variable holds is text whatever it looks like: no keys, no structure, no further references."""
        monkeypatch.setenv("TITLE", value)
        monkeypatch.setenv("OTHER", "unseen")
        text = MINIMAL.replace("pages.csv}", "pages.csv}\n    status: ${TITLE}")
        site = site_of(tmp_path, text)
        assert (site.sections[0].status, site.names) == (value, "stable")

    def test_references_stand_anywhere(self, tmp_path, monkeypatch):
        """A reference needs no quotes, though YAML would take its braces for its own between braces and brackets."""
        monkeypatch.setenv("DIR", "/srv/a, b}")
        text = MINIMAL.replace("pages.csv}", "${DIR}/${NAME:-pages, {all}.csv, delimiter: '${D:-;}'}")
        site = site_of(tmp_path, text, more="urls: {exclude: [${A:-/a}, '/b${B:-}', /$${c}]} # ${COMMENT}")
        assert site.sections[0].source.path == "/srv/a, b}/pages, {all.csv"
        assert site.sections[0].source.delimiter == ";"
        assert site.urls.exclude == ("/a", "/b", "/${c}")

    def test_keys_are_not_substituted(self, tmp_path, monkeypatch):
        """Only values come from the environment."""
        monkeypatch.setenv("KEY", "names")
        with pytest.raises(SiteFileError, match="is not a known key"):
            site_of(tmp_path, more="${KEY}: immutable")


class TestYaml:
    def test_words_stay_words(self, tmp_path):
        """What YAML 1.1 takes for booleans, dates and times is text here; ids keep their zeros."""
        text = MINIMAL.replace(
            "{type: csv, path: pages.csv}",
            "{type: sql, conn_id: db, query: q, params:"
            " {a: no, b: 2024-01-01, c: 12:30, d: 007, e: 1e3, f: 5, g: true, on: ~}}",
        )
        params = site_of(tmp_path, text).sections[0].source.params
        assert params == {
            "a": "no", "b": "2024-01-01", "c": "12:30", "d": "007", "e": "1e3", "f": 5, "g": True, "on": None
        }  # fmt: skip

    def test_anchors_and_merge_keys(self, tmp_path):
        """Sections can share what they have in common; a section's own key wins, then the first merged mapping's."""
        text = MINIMAL.replace("{type", "&csv {type") + (
            "  - {name: own, <<: {source: *csv, loc: merged}, loc: own}\n"
            "  - name: listed\n    <<: [{loc: first}, {loc: second, source: *csv}]\n"
        )
        pages, own, listed = site_of(tmp_path, text).sections
        assert (own.loc, listed.loc) == ("own", "first")
        assert own.source == listed.source == pages.source

    def test_a_byte_order_mark_and_crlf_are_fine(self, tmp_path):
        """A file written on Windows loads."""
        path = tmp_path / "shop.yaml"
        path.write_bytes(b"\xef\xbb\xbf" + MINIMAL.replace("\n", "\r\n").encode())
        assert load_site(path).site == "shop"


@pytest.mark.parametrize("charset", ["utf-8", "UTF8", "iso-8859-1", "windows-1254", "euc-kr", "gb18030", "shift_jis"])
def test_charsets_of_servers(tmp_path, charset):
    """P-28: any charset that extends ASCII can be a server's; it is kept under Python's name."""
    assert site_of(tmp_path, more=f"urls: {{charset: {charset}}}").urls.charset == codecs.lookup(charset).name


@pytest.mark.parametrize(
    "charset", ["utf-16", "utf-8-sig", "utf-7", "iso-2022-jp", "cp037", "idna", "punycode", "unicode_escape",
                "raw_unicode_escape", "hz", "base64", "rot13", "undefined", "no\0such"]
)  # fmt: skip
def test_not_charsets_of_servers(tmp_path, charset):
    """What does not keep ASCII, or is no text encoding at all, can't be."""
    with pytest.raises(ValidationError, match="not a char"):
        Site(**FIELDS | {"urls": {"charset": charset}})


class TestSections:
    def test_columns_are_named_once_in_order(self, tmp_path):
        """`columns()` holds what a source has to give: placeholders, columns of optional values, filter columns."""
        text = MINIMAL + (
            "    loc: '/{lang}/{slug}?l={lang}'\n    lastmod: changed\n    changefreq: freq\n    priority: prio\n"
            "    status: code\n    robots: robots\n    canonical: canon\n    published: live\n"
        )
        section = site_of(tmp_path, text).sections[0]
        assert section.columns() == ("lang", "slug", "changed", "freq", "prio", "code", "robots", "canon", "live")
        assert (section.changefreq_constant, section.changefreq_column) == (None, "freq")
        assert (section.priority_constant, section.priority_column) == (None, "prio")

    def test_columns_of_extensions(self):
        """Issue 3: images, videos and news name columns one by one, or one; a publication is constant or a column."""
        section = Section.model_validate(
            FIELDS["sections"][0]
            | {
                "images": {"loc": "pictures", "title": "alt"},
                "videos": "films",
                "news": {"name": "The Post", "language": "{lang}", "title": "headline", "published": "at"},
            }
        )
        assert section.columns() == ("loc", "pictures", "alt", "films", "lang", "headline", "at")
        assert section.news.columns() == (None, "lang", "headline", "at")

    @pytest.mark.parametrize(
        ("written", "columns"),
        [
            ({"tr": "loc_tr", "x-default": "loc_tr", "en-gb": "loc_en"}, ("loc", "loc_tr", "loc_en")),
            ({"cluster": "group", "language": "lang"}, ("loc", "group", "lang")),
            ("links", ("loc", "links")),
        ],
    )
    def test_columns_of_alternates(self, written, columns):
        """Issue 3.3: alternates are columns by code, a cluster's and a language's column, or one column."""
        section = Section.model_validate(FIELDS["sections"][0] | {"alternates": written})
        assert section.columns() == columns
        if "tr" in written:
            assert list(section.alternates) == ["tr", "x-default", "en-GB"]

    @pytest.mark.parametrize(
        ("written", "constant"), [("1", "1.0"), ("0", "0.0"), ("0.8", "0.8"), ("'0,8'", "0.8"), ("1.0", "1.0")]
    )
    def test_priority_constants(self, tmp_path, written, constant):
        """A priority that is a number is meant for all rows; a decimal comma can only mean a point."""
        section = site_of(tmp_path, MINIMAL + f"    priority: {written}\n").sections[0]
        assert (section.priority_constant, section.priority_column) == (constant, None)

    def test_changefreq_constants_have_any_case(self, tmp_path):
        """`Weekly` is the constant, not a column."""
        assert site_of(tmp_path, MINIMAL + "    changefreq: Weekly\n").sections[0].changefreq_constant == "weekly"

    def test_braces_in_templates(self, tmp_path):
        """`{{` and `}}` are braces, not placeholders."""
        section = site_of(tmp_path, MINIMAL + "    loc: '/{{x}}/{id}'\n").sections[0]
        assert section.columns() == ("id",)

    def test_section_guards_are_unset_unless_named(self, tmp_path):
        """A section without guards is judged with the others only."""
        section = site_of(tmp_path, MINIMAL + "    guards: {max_drop: 0.5}\n").sections[0]
        assert (section.guards.max_drop, section.guards.min_urls, section.guards.max_rejected) == (0.5, None, None)


@pytest.mark.parametrize(
    ("written", "robots"),
    [
        ('"User-agent: *\\nDisallow: /a"', RobotsTxt("text", "User-agent: *\nDisallow: /a")),
        ("'disallow: /'", RobotsTxt("text", "disallow: /")),
        ("robots.txt", RobotsTxt("path", "{folder}/robots.txt")),
        ("s3://bucket/robots.txt", RobotsTxt("path", "s3://bucket/robots.txt")),
        ("https://www.example.com/robots.txt", RobotsTxt("url", "https://www.example.com/robots.txt")),
    ],
)
def test_robots_txt_is_text_path_or_address(tmp_path, written, robots):
    """`robots` says by its form where the robots.txt is."""
    site = Site.model_validate(
        {**FIELDS, "robots": written.strip("'\"").replace("\\n", "\n")}, context={"folder": tmp_path}
    )
    assert site.robots == robots._replace(value=robots.value.format(folder=tmp_path))


FIELDS = {
    "site": "shop",
    "base_url": "https://www.example.com/",
    "target": "/srv/public",
    "sections": [{"name": "pages", "source": {"type": "csv", "path": "pages.csv"}}],
}


class TestModel:
    def test_a_site_is_frozen_and_travels(self, tmp_path):
        """No step can change the configuration of another; worker processes get the same."""
        site = site_of(tmp_path)
        with pytest.raises(ValidationError):
            site.names = "immutable"
        copy = pickle.loads(pickle.dumps(site))
        assert (copy, copy.folder) == (site, site.folder)

    def test_a_site_can_be_made_in_code(self, monkeypatch, tmp_path):
        """Without a file, relative paths resolve against the current folder."""
        monkeypatch.chdir(tmp_path)
        site = Site(**FIELDS)
        assert (site.folder, site.sections[0].source.path) == (tmp_path, f"{tmp_path}/pages.csv")

    def test_an_error_in_code_shows_no_input(self):
        """A ValidationError's text holds no value: it could be a secret."""
        with pytest.raises(ValidationError) as raised:
            Site(**FIELDS | {"target": "ftp://user:hunter2@host/"})
        assert "hunter2" not in str(raised.value)


class TestSpeed:
    def test_imports_stay_light(self):
        """Airflow parses the DAG folder every 30 s: neither the data stack nor Airflow comes with the site file."""
        code = (
            "import sys, sitemap_ops.site;"
            "heavy = {'pandas', 'numpy', 'pyarrow', 'boto3', 'lxml', 'airflow', 'sqlalchemy', 'idna', 'difflib'};"
            "print(*sorted(heavy & set(sys.modules)))"
        )
        result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert result.stdout.split() == []

    def test_a_hundred_files_parse_in_a_second(self, tmp_path):
        """Issue 2: the DAG folder parses in under a second; the site files take a small part of that."""
        paths = []
        for number in range(100):
            paths.append(tmp_path / f"site{number}.yaml")
            paths[-1].write_text(DESIGN_EXAMPLE.replace("site: shop ", f"site: shop{number} "))
        started = time.process_time()  # of the processor: others on the machine don't count
        for path in paths:
            load_site(path)
        assert time.process_time() - started < 1
