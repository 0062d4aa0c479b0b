#!/usr/bin/env python3
"""Looks at what Benchmarks wrote into a folder: figures.json is whole, figures.html has its charts and runs and loads
nothing but its own script, figures.svg is a picture. Seconds are not judged."""
import base64
import hashlib
import json
import math
import pathlib
import re
import sys
import xml.etree.ElementTree as tree

folder = pathlib.Path(sys.argv[1])
CHARTS = 4
TABLES = 14

figures = json.loads((folder / "figures.json").read_text())
groups = {row["group"] for row in figures["rows"]}
expected = {
    "p256", "p384", "assertions", "attestations", "attestationsWithoutReceipts", "lanes", "allCores", "objects",
    "exchange", "exchangeES256", "heldKey", "tokens", "withoutSignatures",
}
assert expected <= groups, f"missing groups: {expected - groups}"
for row in figures["rows"]:
    for name in ["recordsPerSecond", "microsecondsOfACore", "ratio", "ratioLow", "ratioHigh"]:
        assert math.isfinite(row[name]) and row[name] > 0, f"{row['name']}: {name} is {row[name]}"
assert figures["machine"]["processor"] and figures["stages"], "no machine or no stages"

page = (folder / "figures.html").read_text()
(facts, script) = re.findall(r"<script.*?>(.*?)</script>", page, re.DOTALL)
facts = json.loads(facts)
assert facts["sections"] == figures["sections"], "the page draws something else than the JSON has"
charts = [part["chart"] for section in facts["sections"] for part in section["parts"] if "chart" in part]
assert len(charts) == CHARTS, f"{len(charts)} charts in the page, {CHARTS} are expected"
assert page.count("<figure ") == CHARTS, "a chart has no place in the page"
tables = [part["table"] for section in facts["sections"] for part in section["parts"] if "table" in part]
assert len(tables) == TABLES, f"{len(tables)} tables in the page, {TABLES} are expected"


def numbers(value):
    if isinstance(value, dict):
        return [number for member in value.values() for number in numbers(member)]
    if isinstance(value, list):
        return [number for element in value for number in numbers(element)]
    return [] if isinstance(value, str) else [value]


for chart in charts + [row["drawn"] for table in tables for row in table["rows"]]:
    assert all(number is not None and number >= 0 for number in numbers(chart)), f"not a number in {chart}"
policy = re.search(r"script-src '(.*?)'", page)[1]
assert policy == "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(), "the script may not run"
for foreign in ["<link", "@import", "url(", "src=", "https:"]:
    assert foreign not in page, f"the page needs something else: {foreign}"
tree.fromstring((folder / "figures.svg").read_text())
print(f"{len(figures['rows'])} rows, {len(charts)} charts, {len(tables)} tables")
