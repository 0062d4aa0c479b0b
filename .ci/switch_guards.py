"""Gives each condition of a guard that throws a switch of its own.

Usage: switch_guards.py FOLDER
FOLDER is a copy of the tree. Prints number, place and condition of each switch, by tabs; MUTANT_GUARD=NUMBER takes a
condition for met. A binding has none, nor has a condition that throws.
"""

import pathlib
import re
import sys

MODULES = ["verify/AppAttest", "verify/AppCheck", "judge/Pipeline"]
GUARD = re.compile(r"\bguard ((?:(?!\bguard\b)[^{}\"])*?)\s+else \{\s*throw ", re.S)
SWITCH = """internal import Glibc

private let guardOff = unsafe getenv("MUTANT_GUARD").flatMap { unsafe Int(String(cString: $0)) }

func isGuardOff(_ number: Int) -> Bool { number == guardOff }
"""


def clauses(text):
    """The conditions between commas that stand in no brackets."""
    depth, start = 0, 0
    for index, character in enumerate(text):
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            yield text[start:index]
            start = index + 1
    yield text[start:]


def switched(text, place, numbers):
    def rewrite(match):
        parts = []
        for clause in clauses(match[1]):
            words = clause.strip()
            if re.match(r"(let|var|case|#available)\b", words) or re.search(r"\b(try|await)\b", words):
                parts.append(clause)
                continue
            numbers.append(words)
            line = text.count("\n", 0, match.start()) + 1
            print(len(numbers), f"{place}:{line}", " ".join(words.split()), sep="\t")
            parts.append(f" (isGuardOff({len(numbers)}) ? true : ({words}))")
        return match[0].replace(match[1], ",".join(parts).strip(), 1)

    return GUARD.sub(rewrite, text)


def main(folder):
    numbers = []
    for module in MODULES:
        root = pathlib.Path(folder, "Sources", module)
        for path in sorted(root.rglob("*.swift")):
            text = path.read_text()
            # All checks that go through it have switches by their names.
            changed = text if path.name == "CheckTracer.swift" else switched(text, path.relative_to(folder), numbers)
            if changed != text:
                path.write_text(changed)
        (root / "GuardSwitch.swift").write_text(SWITCH)


main(sys.argv[1])
