#!/usr/bin/env python3
"""Merges files in which bugs are planted, one bug a file, into one file with all of them.

merge_mutants.py BASE OUTPUT CHANGED...   Where several add lines at one place, one stands after the other. Exit code 1:
two of them change the same line of BASE, so that neither would be what it says.
"""

import difflib
import pathlib
import sys


def changes(base, changed):
    """(first line, end, lines) of what takes the place of which lines of the base."""
    matcher = difflib.SequenceMatcher(None, base, changed, autojunk=False)
    return [(i1, i2, changed[j1:j2]) for kind, i1, i2, j1, j2 in matcher.get_opcodes() if kind != "equal"]


def main(base_path, output, *paths):
    base = pathlib.Path(base_path).read_text().splitlines(keepends=True)
    found = []
    for path in paths:
        for change in changes(base, pathlib.Path(path).read_text().splitlines(keepends=True)):
            # The same change in two, such as an import, is one.
            if change not in found:
                found.append(change)
    found.sort(key=lambda change: (change[0], change[1]))
    for (_, end, _), (start, after, _) in zip(found, found[1:]):
        if end > start:
            print(f"{base_path}:{start + 1}: two planted bugs change this line: let them add lines only")
            return 1
    merged, place = [], 0
    for start, end, lines in found:
        merged += base[place:start] + lines
        place = end
    pathlib.Path(output).write_text("".join(merged + base[place:]))
    return 0


sys.exit(main(*sys.argv[1:]))
