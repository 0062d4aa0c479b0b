#!/usr/bin/env python3
"""Draws dashboard.json as one HTML page, from what a Prometheus server answers: for looking at it without Grafana.

    draw-dashboard.py --prometheus http://127.0.0.1:9090 --output dashboard.html [--last 30m | --from UNIX --to UNIX]
                      [--scrape-interval 15] [--set app=REGEX ...] [--mark UNIX=TEXT ...] [--list]

Exit code 1: a query failed, or Prometheus does not answer. --list prints each query with the number of its series.
"""
import argparse
import html
import json
import math
import pathlib
import re
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

COLUMN, LINE, GAP = 62, 34, 8
PALETTE = ["#3b7dd8", "#e0892b", "#3f9b54", "#c94a4a", "#8a63c4", "#2aa3a3", "#b5a32a", "#d164a4"]
PALETTE += ["#6b7f94", "#7a5a3a", "#5fb0e8", "#a6c34c"]
NAMED = {
    "green": "#3f9b54", "orange": "#e0892b", "red": "#d0413f", "dark-red": "#7d1d24", "blue": "#3b7dd8", "purple": "#8a63c4",
}
MISSING = float("nan")


def colour(name):
    return NAMED.get(name, name)


def escaped(text):
    return html.escape(str(text), quote=True)


def duration(text):
    unit = {"s": 1, "m": 60, "h": 3600, "d": 86400}[text[-1]]
    return float(text[:-1]) * unit


# ---- Prometheus


class Prometheus:
    """Answers queries, with Grafana's variables filled in."""

    def __init__(self, options):
        self.base = options.prometheus.rstrip("/")
        self.start, self.end = options.start, options.end
        scrape = options.scrape_interval
        # Grafana asks for about one point a pixel, and never for more than one a scrape.
        self.step = max(scrape, math.ceil((self.end - self.start) / 400))
        self.values = {
            "__rate_interval": f"{int(max(self.step + scrape, 4 * scrape))}s",
            "__interval": f"{int(self.step)}s",
            "__range": f"{int(self.end - self.start)}s",
        }
        self.queries, self.failed = [], False

    def filled(self, expression):
        return re.sub(r"\$\{?(\w+)\}?", lambda match: self.values.get(match[1], ".*"), expression)

    def ask(self, place, expression, instant=False):
        query = {"query": self.filled(expression)}
        if instant:
            path, query = "query", dict(query, time=self.end)
        else:
            path, query = "query_range", dict(query, start=self.start, end=self.end, step=self.step)
        try:
            with urllib.request.urlopen(f"{self.base}/api/v1/{path}", urllib.parse.urlencode(query).encode(), 60) as answer:
                result = json.load(answer)["data"]["result"]
        except urllib.error.HTTPError as error:
            self.failed = True
            print(f"{place}: {json.load(error).get('error')}: {query['query']}", file=sys.stderr)
            result = []
        self.queries.append((place, len(result), query["query"]))
        return result

    def series(self, place, target):
        """[(name, {time: value})] of a range."""
        instant = target.get("instant", False)
        found = []
        for result in self.ask(place, target["expr"], instant):
            points = result["values"] if "values" in result else [result["value"]]
            name = re.sub(r"\{\{\s*(\w+)\s*\}\}", lambda match: result["metric"].get(match[1], ""), target.get("legendFormat", ""))
            found.append((name, {float(at): float(value) for at, value in points}, result["metric"]))
        return sorted(found, key=lambda one: natural(one[0]))


def natural(text):
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", text)]


# ---- text of values


def shortened(value):
    for size, unit in ((1e9, " G"), (1e6, " M"), (1e4, " K")):
        if abs(value) >= size:
            return f"{value / (1e3 if size == 1e4 else size):.3g}{unit}"
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"


def seconds(value):
    size = abs(value)
    if size == 0:
        return "0 s"
    for limit, divisor, unit in ((1e-3, 1e-6, "µs"), (1, 1e-3, "ms"), (120, 1, "s"), (7200, 60, "min"), (172800, 3600, "h")):
        if size < limit:
            return f"{value / divisor:.3g} {unit}"
    return f"{value / 86400:.3g} d"


def written(value, unit, decimals=None):
    if value is None or math.isnan(value):
        return "–"
    if unit == "percentunit":
        return f"{value * 100:.{decimals if decimals is not None else 1}f} %"
    if unit == "s":
        return seconds(value)
    if unit == "bytes":
        return f"{value / 2**20:.0f} MiB" if value < 2**30 else f"{value / 2**30:.2f} GiB"
    if unit == "locale":
        return f"{value:,.0f}" if decimals == 0 or abs(value) >= 100 else f"{value:.3g}"
    suffix = {"reqps": " req/s", "ops": " /s", "µs": " µs"}.get(unit, "")
    return shortened(value) + suffix


# ---- drawing


class Canvas:
    def __init__(self):
        self.parts = []

    def add(self, text):
        self.parts.append(text)

    def text(self, x, y, words, size=11, fill="#5b6470", anchor="start", weight="normal"):
        style = f'font-size="{size}" fill="{fill}" text-anchor="{anchor}" font-weight="{weight}"'
        self.add(f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escaped(words)}</text>')

    def box(self, x, y, w, h, fill, stroke="none", opacity=1, title=None, radius=0):
        inner = f"<title>{escaped(title)}</title>" if title else ""
        place = f'x="{x:.1f}" y="{y:.1f}" width="{max(w, 0):.1f}" height="{max(h, 0):.1f}" rx="{radius}"'
        self.add(f'<rect {place} fill="{fill}" stroke="{stroke}" opacity="{opacity}">{inner}</rect>')

    def path(self, points, stroke, fill="none", width=1.4, opacity=1):
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        kind = "polygon" if fill != "none" else "polyline"
        style = f'fill="{fill}" stroke="{stroke}" stroke-width="{width}" opacity="{opacity}" stroke-linejoin="round"'
        self.add(f'<{kind} points="{line}" {style}/>')


def nice(low, high, count=4):
    span = (high - low) or 1
    raw = span / count
    power = 10 ** math.floor(math.log10(raw))
    size = next(power * part for part in (1, 2, 2.5, 5, 10) if power * part >= raw * 0.999)
    return [size * number for number in range(math.floor(low / size), math.ceil(high / size - 1e-9) + 1)]


def clipped(text, width, size=11):
    """The middle of a long name says least: an app's id differs at its end."""
    most = max(6, int(width / (size * 0.62)))
    if len(text) <= most:
        return text
    return text[: most // 3] + "…" + text[-(most - most // 3 - 1):]


class Panel:
    def __init__(self, page, spec, x, y, w, h):
        self.page, self.spec = page, spec
        self.x, self.y, self.w, self.h = x, y, w, h
        self.defaults = spec["fieldConfig"]["defaults"]
        self.unit, self.decimals = self.defaults["unit"], self.defaults.get("decimals")
        self.custom = self.defaults.get("custom", {})

    def draw(self):
        draw = self.page.canvas
        draw.box(self.x, self.y, self.w, self.h, "#ffffff", "#dfe3e8", radius=3)
        draw.add(f"<g><title>{escaped(self.spec['description'])}</title>")
        draw.text(self.x + 9, self.y + 18, clipped(self.spec["title"], self.w - 14, 13), 12.5, "#1f2933", weight="600")
        draw.add("</g>")
        series = [one for target in self.spec["targets"] for one in self.page.prometheus.series(self.spec["title"], target)]
        {"stat": self.stat, "table": self.table, "state-timeline": self.states, "timeseries": self.lines}[self.spec["type"]](series)

    def across(self, at, left, right):
        start, end = self.page.prometheus.start, self.page.prometheus.end
        return left + (right - left) * (at - start) / (end - start)

    def empty(self, words="no data in this range"):
        self.page.canvas.text(self.x + self.w / 2, self.y + self.h / 2 + 6, words, 12, "#98a1ab", "middle")

    def threshold(self, value):
        found = "#1f2933"
        for step in self.defaults.get("thresholds", {}).get("steps", []):
            if step["value"] is None or value >= step["value"]:
                found = colour(step["color"])
        return found

    def stat(self, series):
        draw, end = self.page.canvas, self.page.prometheus.end
        step = self.page.prometheus.step
        latest = [(name, points[max(points)], points) for name, points, _ in series if points and max(points) > end - 2.5 * step]
        if not latest:
            return draw.text(self.x + self.w / 2, self.y + 74, self.defaults.get("noValue", "no data"), 19, colour("red"), "middle", "600")
        part = self.w / len(latest)
        for index, (name, value, points) in enumerate(latest):
            middle = self.x + part * (index + 0.5)
            if self.spec["options"]["graphMode"] == "area" and len(points) > 1:
                self.spark(points)
            mapped = self.mappings().get(f"{value:g}")
            words = mapped["text"] if mapped else written(value, self.unit, self.decimals)
            shade = colour(mapped["color"]) if mapped else self.threshold(value)
            size = min(25, 1.55 * part / max(1, len(words)))
            draw.text(middle, self.y + 74, words, size, shade, "middle", "600")
            if len(latest) > 1:
                draw.text(middle, self.y + 96, name, 11, anchor="middle")

    def mappings(self):
        return {value: one for mapping in self.defaults.get("mappings", []) for value, one in mapping["options"].items()}

    def spark(self, points):
        top, bottom = self.y + 88, self.y + self.h - 4
        highest, lowest = max(points.values()), min(0, min(points.values()))
        scale = (highest - lowest) or 1
        line = [(self.across(at, self.x + 4, self.x + self.w - 4), bottom - (bottom - top) * (value - lowest) / scale)
                for at, value in sorted(points.items()) if not math.isnan(value)]
        if len(line) > 1:
            self.page.canvas.path([(line[0][0], bottom)] + line + [(line[-1][0], bottom)], "none", "#3b7dd8", opacity=0.18)

    def table(self, series):
        """The transformation groupingToMatrix: rows by one label, columns by another."""
        options = next(one["options"] for one in self.spec["transformations"] if one["id"] == "groupingToMatrix")
        cells = {}
        for _, points, labels in series:
            cells[labels.get(options["rowField"], ""), labels.get(options["columnField"], "")] = list(points.values())[-1]
        if not cells:
            return self.empty("none")
        draw = self.page.canvas
        columns = sorted({column for _, column in cells})
        total = {row: sum(value for (name, _), value in cells.items() if name == row) for row in {row for row, _ in cells}}
        rows = sorted(total, key=lambda row: -total[row])
        left, top, height = self.x + 190, self.y + 48, 18
        room = int((self.h - 56) / height)
        if len(rows) > room:
            draw.text(self.x + self.w - 10, self.y + 18, f"{len(rows) - room} more below", 10.5, anchor="end")
        width, most = (self.w - 200) / len(columns), max(cells.values())
        for index, column in enumerate(columns):
            draw.text(left + width * (index + 0.5), top - 8, clipped(column, width - 6, 10.5), 10.5, anchor="middle")
        for line, row in enumerate(rows[:room]):
            y = top + line * height
            draw.text(self.x + 10, y + height * 0.7, clipped(row, 180), 11, "#1f2933")
            for index, column in enumerate(columns):
                value = cells.get((row, column))
                share = 0 if value is None else math.sqrt(value / most)
                fill = "#f4f5f7" if value is None else f"hsl({48 - 44 * share:.0f} 90% {90 - 36 * share:.0f}%)"
                draw.box(left + width * index + 1, y + 1, width - 2, height - 2, fill)
                if value is not None:
                    draw.text(left + width * (index + 0.5), y + height * 0.7, written(value, self.unit, 0), 11, "#1f2933", "middle")

    def states(self, series):
        if not series:
            return self.empty("none")
        draw = self.page.canvas
        names = self.mappings()
        left, right, top, bottom = self.x + min(190, self.w * 0.36), self.x + self.w - 10, self.y + 30, self.y + self.h - 22
        self.times(left, right, top, bottom)
        height = min(34, (bottom - top) / len(series))
        for line, (name, points, _) in enumerate(series):
            y = top + line * height
            draw.text(self.x + 10, y + height * 0.65, clipped(name, left - self.x - 10, 10.5), 10.5, "#1f2933")
            for first, last, value in self.spans(points):
                known = names.get(f"{value:g}", {"text": f"{value:g}", "color": "#808080"})
                x, end = self.across(first, left, right), min(right, self.across(last, left, right))
                draw.box(x, y + 2, end - x, height - 4, colour(known["color"]), opacity=0.85, title=known["text"])
                if end - x > 7 * len(known["text"]) and height > 13:
                    draw.text(x + 4, y + height * 0.65, known["text"], 10.5, "#ffffff")

    def spans(self, points):
        """(from, to, value) of equal neighbours."""
        step, found = self.page.prometheus.step, []
        for at, value in sorted(points.items()):
            if found and found[-1][2] == value and at - found[-1][1] < step * 0.5:
                found[-1][1] = at + step
            else:
                found.append([at, at + step, value])
        return found

    def times(self, left, right, top, bottom):
        draw, source = self.page.canvas, self.page.prometheus
        span = source.end - source.start
        sizes = (30, 60, 120, 300, 600, 1800, 3600, 10800, 21600)
        every = next((size for size in sizes if span / size <= (right - left) / (75 if size < 60 else 52)), 86400)
        at = math.ceil(source.start / every) * every
        while at <= source.end:
            x = self.across(at, left, right)
            draw.path([(x, top), (x, bottom)], "#eceff2", width=1)
            words = time.strftime("%H:%M:%S" if every < 60 else "%H:%M", time.gmtime(at))
            if x < right - 12:
                draw.text(x, bottom + 13, words, 10, anchor="middle" if x > left + 20 else "start")
            at += every
        for at, text, shade, _ in self.page.notes:
            x = self.across(at, left, right)
            place, style = f'x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{bottom}"', 'stroke-dasharray="3 2" opacity="0.55"'
            draw.add(f'<line {place} stroke="{shade}" {style}><title>{escaped(text)}</title></line>')

    def lines(self, series):
        series = [one for one in series if any(not math.isnan(value) and not math.isinf(value) for value in one[1].values())]
        if not series:
            return self.empty()
        stacked = self.custom["stacking"]["mode"] == "normal"
        shades = self.shades(series)
        legend = self.legend(series, shades)
        left, right, top, bottom = self.x + 66, self.x + self.w - 12, self.y + 32, legend - 24
        grid = sorted({at for _, points, _ in series for at in points})
        floor = {at: 0.0 for at in grid}
        layers = []
        for name, points, _ in series:
            lower = dict(floor) if stacked else {}
            values = {at: value for at, value in points.items() if not math.isnan(value) and not math.isinf(value)}
            if stacked:
                for at, value in values.items():
                    floor[at] += value
                values = {at: floor[at] for at in values}
            layers.append((name, values, lower))
        everything = [value for _, values, _ in layers for value in values.values()]
        low, high = min(0, min(everything)), max(everything)
        if self.defaults.get("max") is not None:
            high = self.defaults["max"]
        size = 60 if self.unit == "s" and high > 120 else 1
        ticks = [tick * size for tick in nice(low / size, (high if high > low else low + 1) / size)]
        low, high = ticks[0], max(ticks[-1], high)
        up = lambda value: bottom - (bottom - top) * (value - low) / (high - low)
        self.times(left, right, top, bottom)
        for tick in ticks:
            self.page.canvas.path([(left, up(tick)), (right, up(tick))], "#e4e7eb", width=1)
            self.page.canvas.text(left - 6, up(tick) + 4, written(tick, self.unit), 10, anchor="end")
        order = reversed(list(zip(layers, shades))) if stacked else zip(layers, shades)
        for (name, values, lower), shade in order:
            self.layer(values, lower, shade, up, left, right, stacked)

    def layer(self, values, lower, shade, up, left, right, stacked):
        draw, step = self.page.canvas, self.page.prometheus.step
        if self.custom["drawStyle"] == "bars":
            width = max(1.5, (right - left) * step / (self.page.prometheus.end - self.page.prometheus.start) * 0.9)
            for at, value in values.items():
                base = lower.get(at, 0)
                if value > base:
                    draw.box(self.across(at, left, right) - width / 2, up(value), width, up(base) - up(value), shade, opacity=0.75)
            return
        for run in self.runs(sorted(values), step):
            line = [(self.across(at, left, right), up(values[at])) for at in run]
            if len(line) == 1:
                draw.add(f'<circle cx="{line[0][0]:.1f}" cy="{line[0][1]:.1f}" r="2" fill="{shade}"/>')
                continue
            under = [(self.across(at, left, right), up(lower.get(at, 0) if stacked else 0)) for at in reversed(run)]
            draw.path(line + under, "none", shade, opacity=self.custom["fillOpacity"] / 100)
            draw.path(line, shade)

    @staticmethod
    def runs(times, step):
        found = []
        for at in times:
            if found and at - found[-1][-1] < step * 1.5:
                found[-1].append(at)
            else:
                found.append([at])
        return found

    def shades(self, series):
        fixed = {
            one["matcher"]["options"]: colour(part["value"]["fixedColor"])
            for one in self.spec["fieldConfig"]["overrides"] for part in one["properties"] if part["id"] == "color"
        }
        return [fixed.get(name, PALETTE[index % len(PALETTE)]) for index, (name, _, _) in enumerate(series)]

    def legend(self, series, shades):
        """Draws the names at the bottom; returns where they begin."""
        room, lines, used = self.w - 24, [[]], 0
        for (name, points, _), shade in zip(series, shades):
            words = clipped(name or self.spec["title"], room - 20, 10.5)
            width = 22 + len(words) * 5.9
            if used + width > room and lines[-1]:
                lines.append([])
                used = 0
            lines[-1].append((used, words, shade))
            used += width
        shown = lines[:5]
        if len(lines) > 5:
            shown[-1] = [(0, f"and {sum(len(line) for line in lines[4:])} more", "#98a1ab")]
        top = self.y + self.h - 6 - 15 * len(shown)
        for number, line in enumerate(shown):
            for offset, words, shade in line:
                self.page.canvas.box(self.x + 12 + offset, top + 15 * number + 5, 10, 4, shade)
                self.page.canvas.text(self.x + 26 + offset, top + 15 * number + 11, words, 10.5)
        return top


class Page:
    def __init__(self, dashboard, prometheus, marks):
        self.dashboard, self.prometheus, self.canvas = dashboard, prometheus, Canvas()
        self.notes = [(at, text, "#1f2933", True) for at, text in marks]
        for note in dashboard["annotations"]["list"]:
            shade = colour(note["iconColor"])
            for labels, times in self.events(note):
                text = re.sub(r"\{\{\s*(\w+)\s*\}\}", lambda match: labels.get(match[1], ""), note["textFormat"])
                self.notes += [(at, f"{note['titleFormat']}: {text}", shade, False) for at in times]

    def events(self, note):
        """Where each series of an annotation begins."""
        for result in self.prometheus.ask(f"annotation {note['name']}", note["expr"]):
            times = [float(at) for at, _ in result["values"]]
            yield result["metric"], [run[0] for run in Panel.runs(times, self.prometheus.step)]

    def write(self, path):
        bottom = 0
        for spec in self.dashboard["panels"]:
            place = spec["gridPos"]
            x, y = place["x"] * COLUMN + GAP, place["y"] * LINE + 46
            w, h = place["w"] * COLUMN - GAP, place["h"] * LINE - GAP
            bottom = max(bottom, y + h)
            if spec["type"] == "row":
                self.canvas.text(x + 2, y + 18, spec["title"], 14, "#1f2933", weight="600")
            else:
                Panel(self, spec, x, y, w, h).draw()
        width, height = 24 * COLUMN + GAP, bottom + GAP
        day = time.strftime("%Y-%m-%d %H:%M", time.gmtime(self.prometheus.start))
        day += time.strftime(" to %H:%M UTC", time.gmtime(self.prometheus.end))
        marks = "".join(f" · {time.strftime('%H:%M:%S', time.gmtime(at))} {text}" for at, text, _, is_mark in self.notes if is_mark)
        self.canvas.text(GAP + 2, 28, f"{self.dashboard['title']} · {day}{marks}", 16, "#1f2933", weight="600")
        path.write_text(
            '<!doctype html><meta charset="utf-8"><title>attest-worker</title><body style="margin:0;background:#f4f5f7">'
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="Inter, DejaVu Sans, sans-serif">'
            + "".join(self.canvas.parts) + "</svg>\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prometheus", default="http://127.0.0.1:9090")
    parser.add_argument("--dashboard", type=pathlib.Path, default=pathlib.Path(__file__).with_name("dashboard.json"))
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--last", type=duration, default=1800.0)
    parser.add_argument("--from", dest="start", type=float)
    parser.add_argument("--to", dest="end", type=float)
    parser.add_argument("--scrape-interval", type=float, default=15)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=REGEX")
    parser.add_argument("--mark", action="append", default=[], metavar="UNIX=TEXT")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    options.end = options.end or time.time()
    options.start = options.start or options.end - options.last
    prometheus = Prometheus(options)
    prometheus.values.update(one.split("=", 1) for one in options.set)
    try:
        marks = [(float(at), text) for at, text in (one.split("=", 1) for one in options.mark)]
        page = Page(json.loads(options.dashboard.read_text()), prometheus, marks)
        page.write(options.output)
    except urllib.error.URLError as error:
        sys.exit(f"{options.prometheus} does not answer ({error.reason}): name the Prometheus server with --prometheus")
    if options.list:
        for place, count, query in prometheus.queries:
            print(f"{count}\t{place}\t{query}")
    sys.exit(1 if prometheus.failed else 0)


main()
