"""Every link, picture and citation of the built manual resolves, and no page asks for the network.

The site is built once, strictly, where Zensical is installed.
"""

import importlib
import importlib.util
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from manual import DOCS, ROOT
from manual.links import CITATION, DOCUMENTS, anchor

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("zensical") is None,
    reason="Zensical is not installed (stiction[docs])",
)
PHONE, DESK = (390, 844), (1280, 900)
UNSET = """[...document.querySelectorAll(".arithmatex")]
  .filter(e => !e.querySelector(".katex")).length"""


class Page(HTMLParser):
    """The anchors and the links of a page."""

    def __init__(self, text: str):
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.sources: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag defines and where it leads."""
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[a] for a in ("id", "name") if a in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag in ("img", "script", "source", "iframe") and "src" in given:
            self.sources.append(given["src"])
        if tag == "link" and "href" in given and given.get("rel") in ("stylesheet", "icon"):
            self.sources.append(given["href"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The manual, built strictly from a copy."""
    folder = tmp_path_factory.mktemp("manual")
    for name in ("docs", "manual", "src"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "zensical.toml", folder)
    command = [sys.executable, "-m", "zensical", "build", "--strict"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "site"


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    """Every page of the site."""
    return {p: Page(p.read_text()) for p in site.rglob("*.html") if p.name != "404.html"}


def test_every_page_of_the_manual_is_in_the_navigation():
    nav = (ROOT / "zensical.toml").read_text()
    named = set(re.findall(r'"([\w/.-]+\.md)"', nav))
    assert named == {str(p.relative_to(DOCS)) for p in DOCS.rglob("*.md")}


def test_every_link_and_picture_resolves(site, pages):
    broken = []
    for path, page in pages.items():
        for link in [*page.links, *page.sources]:
            if re.match(r"[a-z]+:|//", link):
                continue
            file, _, place = unquote(link).partition("#")
            target = (path.parent / file).resolve() if file else path
            if target.is_dir():
                target = target / "index.html"
            known = pages[target].anchors if target in pages else {place}
            if not target.exists() or (place and place not in known):
                broken.append(f"{path.relative_to(site)}: {link}")
    assert not broken


def test_nothing_is_fetched_from_elsewhere(pages):
    assert not [s for page in pages.values() for s in page.sources if re.match(r"https?:|//", s)]


def test_every_citation_is_a_link(site, pages):
    """In pages and in docstrings: [Key2000] never stays plain text."""
    for path in pages:
        text = re.sub(r"<(pre|code|script)\b.*?</\1>", "", path.read_text(), flags=re.DOTALL)
        text = re.sub(r"<[^>]*>", "", text)
        assert not re.search(CITATION, text), path
    assert any(anchor("Ma2007") in link for p in pages.values() for link in p.links)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_is_linked_where_it_is_cited(name, pages):
    found = sum(f"#{anchor(name, 'document-')}" in link for p in pages.values() for link in p.links)
    assert found > 5


def test_every_public_name_is_in_the_reference(pages):
    from manual.api import FOLDERS

    anchors = set().union(*(p.anchors for p in pages.values()))
    constants = " ".join(p.read_text() for p in (DOCS / "api").glob("*.md"))
    missing = [
        f"stiction.{folder}.{name}"
        for folder in FOLDERS
        for name in importlib.import_module(f"stiction.{folder}").__all__
        if f"stiction.{folder}.{name}" not in anchors
        and f"stiction.{folder}.{name}" not in constants
    ]
    assert not missing


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "scheme"), [(DESK, "light"), (PHONE, "dark")], ids=["1280-light", "390-dark"]
)
def test_pages_fit_and_set_their_formulas_without_a_network(site, pages, size, scheme):
    """In a browser that is offline: no request, no error, no formula unset, nothing wider."""
    sync = pytest.importorskip("playwright.sync_api")
    browser_path = shutil.which("chromium")
    if browser_path is None:
        pytest.skip("no Chromium")
    with sync.sync_playwright() as p:
        browser = p.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        context = browser.new_context(
            viewport={"width": size[0], "height": size[1]}, color_scheme=scheme, offline=True
        )
        view = context.new_page()
        asked: list[str] = []
        view.on("request", lambda r: asked.append(r.url))
        view.on("pageerror", lambda e: asked.append(f"error {e}"))
        view.on("requestfailed", lambda r: asked.append(f"failed {r.url}"))
        for path in pages:
            view.goto(f"file://{path}")
            unset = view.evaluate(UNSET)
            wrong = view.locator(".katex-error").count()
            wide = view.evaluate("document.documentElement.scrollWidth")
            assert (unset, wrong) == (0, 0), path
            assert wide <= size[0], path
        browser.close()
    assert not [a for a in asked if not a.startswith(("file:", "data:", "blob:"))]


@pytest.mark.slow
def test_search_works_from_disk(site):
    sync = pytest.importorskip("playwright.sync_api")
    browser_path = shutil.which("chromium")
    if browser_path is None:
        pytest.skip("no Chromium")
    with sync.sync_playwright() as p:
        browser = p.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        view = browser.new_context(offline=True).new_page()
        view.goto(f"file://{site}/index.html")
        view.keyboard.press("Control+k")
        view.keyboard.type("saltation", delay=30)
        view.wait_for_selector("text=/saltation/i", timeout=20_000)
        browser.close()
