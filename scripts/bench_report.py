#!/usr/bin/env python3
"""Measure the report of 5,000 runs: making it, its size, and how long Chromium takes until it can be used.

    python scripts/bench_report.py [--results 5000] [--repeats 5]

The peer is the report of one run, in the same Chromium. Aims: interactive in less than 3 s, the page less than 8 MB;
exit code 1 when one is missed.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from heapprof_cli.report.data import report_of  # noqa: E402
from heapprof_cli.report.page import page  # noqa: E402
from tests.report.made_history import many  # noqa: E402

_SECONDS, _BYTES = 3.0, 8_000_000
# After the page's own script and layout: by now filters work, and all that is left is to paint it.
_SAY = """<script>
addEventListener("load", () => {
  const height = document.body.offsetHeight;
  const box = document.createElement("pre");
  box.id = "said";
  box.textContent = JSON.stringify([height, performance.now()]);
  document.body.append(box);
});
</script></body>"""


def interactive(whole: str, folder: Path, chromium: str) -> float:
    """Seconds from opening the page until its script has run and it is laid out."""
    path = folder / "page.html"
    path.write_text(whole.replace("</body>", _SAY), "utf-8")
    words = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--timeout=20000", "--dump-dom"]
    command = [chromium, *words, f"--user-data-dir={folder / 'profile'}", path.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    said = re.search(r'<pre id="said">(.*?)</pre>', done.stdout)
    if not said:
        sys.exit(f"Chromium said nothing: {done.stderr[-500:]}")
    return float(json.loads(said[1])[1]) / 1000


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--results", type=int, default=5000)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("no Chromium is installed (Debian: apt-get install chromium)")
    start = time.perf_counter()
    whole = page(report_of(many(options.results)), "DSP heap over time")
    made = time.perf_counter() - start
    one = page(report_of(many(1)), "DSP heap over time")
    with tempfile.TemporaryDirectory() as place:
        pairs = [
            (interactive(whole, Path(place), chromium), interactive(one, Path(place), chromium))
            for _ in range(options.repeats)
        ]
    ours, peer = (statistics.median(pair[side] for pair in pairs) for side in (0, 1))
    size = len(whole.encode())
    print(f"{options.results} runs: made in {made:.2f} s, {size / 1e6:.2f} MB")
    print(f"interactive after {ours:.2f} s; a page of one run {peer:.2f} s, ratio {ours / peer:.2f}")
    return int(ours > _SECONDS or size > _BYTES)


if __name__ == "__main__":
    sys.exit(main())
