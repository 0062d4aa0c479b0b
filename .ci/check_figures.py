#!/usr/bin/env python3
"""Looks at what Benchmarks wrote into a folder: figures.json is whole, figures.html has its charts and needs no
other file, figures.svg is a picture. Seconds are not judged."""
import json
import math
import pathlib
import re
import sys
import xml.etree.ElementTree as tree

folder = pathlib.Path(sys.argv[1])
CHARTS = 12

figures = json.loads((folder / "figures.json").read_text())
groups = {row["group"] for row in figures["rows"]}
expected = {
    "p256", "p384", "assertions", "attestations", "attestationsWithoutReceipts", "lanes", "allCores", "objects",
    "exchange", "exchangeES256", "tokens", "withoutSignatures",
}
assert expected <= groups, f"missing groups: {expected - groups}"
for row in figures["rows"]:
    for name in ["recordsPerSecond", "microsecondsOfACore", "ratio", "ratioLow", "ratioHigh"]:
        assert math.isfinite(row[name]) and row[name] > 0, f"{row['name']}: {name} is {row[name]}"
assert figures["machine"]["processor"] and figures["stages"], "no machine or no stages"

page = (folder / "figures.html").read_text()
charts = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
assert len(charts) == CHARTS, f"{len(charts)} charts in the page, {CHARTS} are expected"
for chart in charts + [(folder / "figures.svg").read_text()]:
    tree.fromstring(chart)
    assert "nan" not in chart.lower().split(">", 1)[1], "a place in a chart is no number"
for foreign in ["<script", "<link", "@import", "url(", "src=", "http:", "https:"]:
    assert foreign not in page, f"the page needs something else: {foreign}"
print(f"{len(figures['rows'])} rows, {len(charts)} charts")
