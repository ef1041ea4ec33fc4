"""The report in headless Chromium: its script works, nothing hostile runs, axe-core finds no serious fault."""

from __future__ import annotations

import html
import importlib.util
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from heapprof_cli.report.data import report_of
from heapprof_cli.report.page import page
from tests.history.made_results import result
from tests.report.made_history import HOSTILE, many

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), ""
)
pytestmark = pytest.mark.skipif(not CHROMIUM, reason="no Chromium is installed (Debian: apt-get install chromium)")
LIGHT, DARK = 1, 0
SAY = """
const say = value => {
  const box = document.createElement("pre");
  box.id = "said";
  box.textContent = JSON.stringify(value);
  document.body.append(box);
};
"""
AXE = """
axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]}).then(found => say(
  found.violations.map(one => ({
    id: one.id, impact: one.impact, nodes: one.nodes.map(node => node.html.slice(0, 200)),
  }))));
"""
FILTER = """
const pick = (name, value) => {
  const field = document.querySelector(`[data-filter=${name}]`);
  field.value = value;
  field.dispatchEvent(new Event("input", {bubbles: true}));
  return [...document.querySelectorAll("tbody tr")].filter(row => !row.hidden).length;
};
const told = () => document.querySelector("[data-count]").textContent;
const counts = [pick("model", "MODEL 3"), pick("verdict", "ok"), told(), pick("since", "2026-01-01")];
document.querySelector("[data-clear]").click();
const all = told();
document.querySelector("[data-more]").click();
say({counts, all, after_more: told(), hacked: window.hacked || null, title: document.title});
"""


def in_browser(whole: str, script: str, folder: Path, scheme: int = LIGHT, width: int = 1200) -> Any:
    """Open the page, run ``script`` after its own, and take what it says."""
    # The page itself forbids scripts from elsewhere, so the test's own is put into a copy of it.
    path = folder / "page.html"
    path.write_text(whole.replace("</body>", f"<script>{SAY}{script}</script></body>"), "utf-8")
    command = [
        CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
        f"--user-data-dir={folder / 'profile'}", f"--blink-settings=preferredColorScheme={scheme}",
        f"--window-size={width},1600", "--virtual-time-budget=30000", "--dump-dom", path.as_uri(),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=110, check=False)
    said = re.search(r'<pre id="said">(.*?)</pre>', done.stdout, re.DOTALL)
    assert said, done.stderr[-2000:]
    return json.loads(html.unescape(said[1]))


def axe() -> str:
    spec = importlib.util.find_spec("axe_core_python")
    assert spec is not None and spec.origin is not None
    return (Path(spec.origin).parent / "axe.min.js").read_text("utf-8")


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize(("count", "width"), [(1, 1200), (60, 1200), (60, 420)])
def test_axe_finds_no_serious_fault(tmp_path: Path, scheme: int, count: int, width: int) -> None:
    whole = page(report_of([result(difference=4096)] if count == 1 else many(count)), "DSP heap")
    violations = in_browser(whole, axe() + AXE, tmp_path, scheme, width)
    assert [one for one in violations if one["impact"] in ("serious", "critical")] == []
    assert len(violations) <= 2, violations


def test_axe_would_find_one(tmp_path: Path) -> None:
    whole = page(report_of([result()]), "x").replace("--quiet: #57606a", "--quiet: #cccccc")
    assert "color-contrast" in {one["id"] for one in in_browser(whole, axe() + AXE, tmp_path)}


def test_filters_and_hostile_names(tmp_path: Path) -> None:
    documents = [
        *many(70),
        *many(7, f"{HOSTILE.replace('alert(1)', 'window.hacked=1')}<img src=x onerror='window.hacked=2'>"),
    ]
    said = in_browser(page(report_of(documents), f"{HOSTILE} title"), FILTER, tmp_path)
    of_model_3 = [one for one in documents if "model 3" in one["model"][0]["name"]]
    good = [one for one in of_model_3 if one["verdict"] == "ok"]
    assert said["counts"] == [len(of_model_3), len(good), f"{len(good)} of 77 shown", len(good)]
    assert said["all"] == "77 of 77 shown"
    assert said["hacked"] is None and said["title"] == f"{HOSTILE} title"


def test_5000_runs(tmp_path: Path) -> None:
    documents = many(5000)
    said = in_browser(page(report_of(documents), "x"), FILTER, tmp_path)
    of_model_3 = [one for one in documents if one["model"][0]["name"] == "model 3.bin"]
    good = sum(one["verdict"] == "ok" for one in of_model_3)
    assert len(of_model_3) > 500 and good > 500
    assert said["counts"] == [500, 500, f"500 of 5000 shown, {good} fit", 500]
    assert said["all"] == "500 of 5000 shown, 5000 fit"
    assert said["after_more"] == "5000 of 5000 shown"
