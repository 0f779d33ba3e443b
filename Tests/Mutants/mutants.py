#!/usr/bin/env python3
"""Plants defects in a copy of the sources, one at a time, and reports which test finds each and how fast.

  Tests/trial mutants                                   all of them, with the table
  Tests/Mutants/mutants.py --list                what is planted, without building
  Tests/Mutants/mutants.py Dispatcher            the defects of one module

A defect is an entry of Tests/Mutants/*.mutants:

  = a push is sent after its expiry                    what the defect breaks
  @ Dispatcher                                         the module, or a file by the end of its path
  - if [[step.now > item.push.expiresAt]] { return     the text; exactly one place matches it, however it is indented
  + false                                              takes the place of what is in brackets, or of the whole text

`-` and `+` may have several lines. All defects are compiled into one build, each behind a switch, and a test process turns on one of
them. A text in brackets is an expression, and a whole text is a statement, which must not declare a name for later lines.

The tests of a defect are those of its file's module, without a broker: unit tests and simulation. They run in parts, the fast suites
first, as a run without a defect has timed them. A defect is caught by the first test that fails, by a crash, or by a hang.

A defect that no test finds has a line with the reason, which the table shows:

  ! why no test finds it
"""

import argparse
import collections
import os
import pathlib
import re
import select
import shutil
import signal
import statistics
import subprocess
import sys
import time
import xml.etree.ElementTree

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
FOLDER = pathlib.Path(__file__).resolve().parent

# A module's tests, and how long they may take without a defect, in seconds.
TESTS = {
    "StreamRuntime": "^StreamRuntimeTests\\.",
    "KafkaTransactions": "^KafkaTransactionsTests\\.",
    "Ingest": "^IngestTests\\.",
    "Analyzer": "^AnalyzerTests\\.",
    "Dispatcher": "^DispatcherTests\\.",
    "Relevance": "^RelevanceTests\\.",
    "HTTPServer": "^(HTTPServerTests\\.|IngestTests\\.EventsAPI)",
}

# Suites with brokers, of which the tiers of Tests/Tiers know.
SKIPPED = (
    r"\.(RealServiceTests|EmbeddedServiceTests|HostileTests|LoneBrokerTests|LostSessionTests|RealBrokerTests|LostStateTests|LagMonitorTests"
    r"|IngestServiceTests|AnalyzerServiceTests|DispatcherServiceTests)/"
)

# Random days of the analyzer's property tests, and schedules of the simulation.
SCHEDULES = {
    "NUDGE_BUDGET_SCHEDULES": "150", "NUDGE_CATCH_UP_SCHEDULES": "150", "NUDGE_ESCALATION_SCHEDULES": "400", "NUDGE_HOLD_SCHEDULES": "250",
    "SEEDS": "1000",
}

SWITCH = """import Foundation

/// Tells which planted defect is on.
enum PlantedDefect {
  private static let number = Int(ProcessInfo.processInfo.environment["NUDGE_PLANTED_DEFECT"] ?? "")
  @inline(never) static func isOn(_ wanted: Int) -> Bool { number == wanted }
}
"""


class MutantError(Exception):
    """An entry does not fit the sources."""


class Mutant:
    def __init__(self, number, title, place, old, new, source, reason=None):
        self.number, self.title, self.place, self.old, self.new, self.source = number, title, place, old, new, source
        self.reason = reason
        self.file = self.module = None

    def plant(self, root):
        """Writes the defect, behind its switch, into the one place of the copy that matches."""
        if self.place in TESTS:
            files = [it for it in (root / "Sources").glob(f"*/{self.place}/**/*.swift")]
        else:
            files = [it for it in (root / "Sources").rglob("*.swift") if str(it).endswith("/" + self.place)]
        found = []
        for file in files:
            text = file.read_text()
            found += [(file, text, it) for it in self.pattern.finditer(text)]
        if len(found) != 1:
            raise MutantError(f"{len(found)} places of {self.place} match: {' '.join(self.old.split())[:90]}")
        self.file, text, match = found[0]
        # Sources/LAYER/MODULE/…
        self.module = self.file.relative_to(root / "Sources").parts[1]
        if self.module not in TESTS:
            raise MutantError(f"{self.place} is in {self.module}, which has no tests here")
        if "[[" in self.old:
            start, end = match.span(1)
            new = f"(PlantedDefect.isOn({self.number}) ? ({self.new}) : ({match[1]}))"
        else:
            start, end = match.span()
            new = f"if PlantedDefect.isOn({self.number}) {{ {self.new} }} else {{ {match[0]} }}"
        self.file.write_text(text[:start] + new + text[end:])

    @property
    def pattern(self):
        """Matches the text, however its lines are indented and broken; the group is what is in brackets."""
        parts = re.split(r"(\[\[|\]\])", self.old.strip())
        pattern = ""
        for part in parts:
            if part == "[[":
                pattern += "("
            elif part == "]]":
                pattern += ")"
            else:
                pattern += r"\s+".join(re.escape(it) for it in re.split(r"\s+", part))
        return re.compile(pattern)


def read(paths):
    """All entries, numbered as they come."""
    mutants = []
    for path in paths:
        entry = None
        for number, line in enumerate(path.read_text().splitlines(), 1):
            where = f"{path.name}:{number}"
            if line.startswith("= "):
                entry = {"title": line[2:].strip(), "where": where, "old": [], "new": [], "place": None}
                mutants.append(entry)
            elif not line.strip() or line.startswith("#"):
                continue
            elif entry is None:
                raise MutantError(f"{where}: no entry begins with '= '")
            elif line.startswith("! "):
                entry["reason"] = line[2:].strip()
            elif line.startswith("@ "):
                entry["place"] = line[2:].strip()
            elif line.startswith("- "):
                entry["old"].append(line[2:])
            elif line.startswith("+"):
                entry["new"].append(line[1:].strip())
            else:
                raise MutantError(f"{where}: a line begins with '= ', '@ ', '- ', '+ ' or '! '")
    return [
        Mutant(
            number, it["title"], it["place"], "\n".join(it["old"]), "\n".join(it["new"]), it["where"], it.get("reason"))
        for number, it in enumerate(mutants, 1)
    ]


COPIED = ["Sources", "Tests", "Package.swift", "Schemas", "docs", "Deploy", "README.md", "Makefile"]


def copy_sources(root):
    """This checkout as it is now."""
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    for name in COPIED:
        target = root / name
        source = REPOSITORY / name
        if source.is_dir():
            shutil.copytree(source, target)
        elif source.exists():
            shutil.copy2(source, target)
    package = root / "Package.swift"
    package.write_text(only_needed(package.read_text()))


def replace_changed(root, staged):
    """Moves the files that differ into the copy, and removes those that are no more, so that only what has changed is built again."""
    for name in COPIED:
        for file in [it for it in [root / name, *(root / name).rglob("*")] if it.is_file() or it.is_symlink()]:
            if not (staged / file.relative_to(root)).exists():
                file.unlink()
        # A folder that only the former sources have would be found by SwiftPM.
        for folder in sorted((it for it in (root / name).rglob("*") if it.is_dir()), reverse=True):
            if not any(folder.iterdir()):
                folder.rmdir()
        for file in [it for it in [staged / name, *(staged / name).rglob("*")] if it.is_file()]:
            target = root / file.relative_to(staged)
            if not target.is_file() or target.read_bytes() != file.read_bytes():
                target.parent.mkdir(parents=True, exist_ok=True)
                # As of now: an older time would not be seen as a change.
                shutil.copyfile(file, target)
                shutil.copymode(file, target)
    shutil.rmtree(staged)


def only_needed(manifest):
    """The manifest without what the tests of these modules do not need, which takes half of the build, and with warnings: a defect may
    leave a name unused."""
    needed = {f"{it}Tests" for it in TESTS}
    entry = re.compile(
        r'^ *(?:Layer\.\w+)?\.(tests|program|module|executableTarget|testTarget)\(\s*(?:name: )?"([^"]+)"', re.MULTILINE)
    start = 0
    while match := entry.search(manifest, start):
        kind, name = match[1], match[2]
        depth, end = 0, match.start()
        while True:
            depth += {"(": 1, ")": -1}.get(manifest[end], 0)
            end += 1
            if manifest[end - 1] == ")" and depth == 0:
                break
        drops = name not in needed if kind in ("tests", "testTarget") else kind != "module" or name in ("NudgeCommands", "NudgeLab")
        if drops:
            manifest = manifest[:match.start()] + manifest[end:].lstrip(",")
        start = match.start() if drops else end
    manifest = re.sub(r"^ *\.executable\(.*\n", "", manifest, flags=re.MULTILINE)
    return manifest.replace(".treatAllWarnings(as: .error),", "")


def plant(mutants, root):
    """Puts all defects into the copy. Returns those that fit, and what is wrong with the others."""
    planted, wrong = [], []
    for mutant in mutants:
        try:
            mutant.plant(root)
            planted.append(mutant)
        except MutantError as error:
            wrong.append((mutant, str(error)))
    for layer, module in {it.file.relative_to(root / "Sources").parts[:2] for it in planted}:
        (root / "Sources" / layer / module / "PlantedDefect.swift").write_text(SWITCH)
    return planted, wrong


def recall(mutants, root):
    """The defects of an earlier run, which their switches in the copy tell. Returns those planted, and those not."""
    planted, wrong = [], []
    texts = [(it, it.read_text()) for it in (root / "Sources").glob("*/*/**/*.swift") if it.name != "PlantedDefect.swift"]
    for mutant in mutants:
        mutant.file = next((it for it, text in texts if f"PlantedDefect.isOn({mutant.number})" in text), None)
        if mutant.file is None:
            wrong.append((mutant, "it is not in the copy"))
            continue
        mutant.module = mutant.file.relative_to(root / "Sources").parts[1]
        planted.append(mutant)
    return planted, wrong


def build(root):
    done = subprocess.run(
        ["swift", "build", "--build-tests", "--package-path", str(root)],
        capture_output=True, text=True)
    if done.returncode:
        errors = [it for it in (done.stdout + done.stderr).splitlines() if "error:" in it]
        raise MutantError("the copy does not build:\n" + "\n".join(errors[:20] or [done.stderr[-2000:]]))


def parts(root, module):
    """Patterns for the module's suites, each with the seconds that they took without a defect: those that take seconds, those that take
    tens of them, and the others."""
    seconds = collections.Counter()
    for case in xml.etree.ElementTree.parse(root / f"{module}.xml").iter("testcase"):
        seconds[case.get("classname")] += float(case.get("time") or 0)
    found, total, part = [], 0.0, []
    for name, spent in sorted(seconds.items(), key=lambda it: it[1]):
        target, *suites = name.split(".")
        if part and total + spent > 4 * 4 ** len(found):
            found.append((part, total))
            total, part = 0.0, []
        part.append(rf"{target}\.{'/'.join(suites)}/")
        total += spent
    return [(f"^({'|'.join(it)})", seconds) for it, seconds in found + [(part, total)]]


def find(mutant, root):
    """Runs the parts of the tests until one fails. Returns what `run` does."""
    spent, total = 0.0, 0
    for pattern, usual in parts(root, mutant.module):
        failed, seconds, count = run(root, pattern, mutant.number, 3 * usual + 60)
        spent, total = spent + seconds, total + count
        if failed:
            break
    return failed, spent, total


class Progress:
    """How much CPU time a process uses. The clock would take tests for a hang that get little of a busy machine."""

    def __init__(self, pid, limit):
        self.stat, self.limit = pathlib.Path(f"/proc/{pid}/stat"), limit
        self.last, self.since = 0.0, time.monotonic()

    def hangs(self):
        """Whether it has used more than the limit, in seconds, or next to nothing for two minutes."""
        # The fields behind the program's name: the times are fields 14 and 15 of proc(5).
        fields = self.stat.read_text().rpartition(")")[2].split()
        used = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        if used > self.last + 0.3:
            self.last, self.since = used, time.monotonic()
        return used > self.limit or time.monotonic() - self.since > 120


def run(root, pattern, number, limit, results=None):
    """Runs tests with a defect on, for so many seconds of CPU time at most; their results go to a file. Returns the name of what failed
    first (None: nothing), the seconds it took, and how many tests ran."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("NUDGE_", "KAFKA_HOME"))}
    environment["NUDGE_PLANTED_DEFECT"] = str(number)
    environment["SWIFT_BACKTRACE"] = "enable=no"
    # More than `make unit` plays, so that one run decides.
    environment.update(SCHEDULES)
    began = time.monotonic()
    process = subprocess.Popen(
        [str(root / ".build/debug/nudgePackageTests.xctest"), "--testing-library", "swift-testing", "--no-parallel",
         "--filter", pattern, "--skip", SKIPPED, *(["--xunit-output", str(results)] if results else [])],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment, cwd=root, start_new_session=True)
    failed, rest, count, running = None, b"", 0, "the first test"
    progress = Progress(process.pid, limit)
    try:
        while failed is None:
            if progress.hangs():
                failed = f"a hang in {running}"
                break
            if not select.select([process.stdout], [], [], 5)[0]:
                continue
            chunk = os.read(process.stdout.fileno(), 1 << 16)
            *lines, rest = re.sub(rb"\x1b\[[0-9;]*m", b"", rest + chunk).split(b"\n")
            for line in (it.decode(errors="replace") for it in lines):
                if match := re.match(r"\W*Test (?!run )(.+?) started\.", line):
                    running = match[1]
                elif match := re.search(r"Test run with (\d+) test", line):
                    count = int(match[1])
                elif failed is None and (match := re.match(r"\W*Test (.+?) recorded an issue", line)):
                    failed = match[1]
            if not chunk:
                if process.wait() and failed is None:
                    # Tests that fail have said so.
                    failed = f"a crash in {running}"
                break
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
    return failed, time.monotonic() - began, count


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="*", metavar="module", help="only the defects of these modules")
    parser.add_argument("--only", metavar="N,M", help="only the defects of these numbers")
    parser.add_argument("--reuse", action="store_true", help="take the copy and its build as an earlier run left them")
    parser.add_argument("--list", action="store_true", help="check that each entry fits the sources, and print them")
    parser.add_argument("--copy", type=pathlib.Path, default=REPOSITORY / ".build-mutants", help="where the copy is built")
    parser.add_argument("--at-least", type=int, default=95, metavar="PERCENT", help="how many of the defects must be caught")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    mutants = read(sorted(FOLDER.glob("*.mutants")))
    if options.reuse:
        planted, wrong = recall(mutants, options.copy)
    else:
        staged = options.copy / "staged"
        copy_sources(staged)
        planted, wrong = plant(mutants, staged)
        replace_changed(options.copy, staged)
    numbers = {int(it) for it in options.only.split(",")} if options.only else None
    chosen = [
        it for it in planted
        if (not options.modules or it.module in options.modules) and (numbers is None or it.number in numbers)
    ]
    for mutant, reason in wrong:
        print(f"STALE {mutant.source}: {mutant.title}: {reason}", flush=True)
    if options.list:
        for it in chosen:
            print(f"{it.number:4} {it.module:18} {it.title}")
        print(f"{len(chosen)} defects, {len(wrong)} that do not fit the sources")
        return 1 if wrong else 0
    try:
        began = time.monotonic()
        if not options.reuse:
            build(options.copy)
            print(f"built in {time.monotonic() - began:.0f} s; {len(chosen)} defects", flush=True)
        for module in sorted({it.module for it in chosen}):
            results = options.copy / f"{module}.xml"
            if not options.reuse or not results.exists():
                unchecked = results.with_suffix(".running")
                failed, seconds, count = run(options.copy, TESTS[module], 0, 1_200, unchecked)
                if failed:
                    raise MutantError(f"without a defect the tests of {module} fail: {failed}")
                unchecked.replace(results)
                print(f"without a defect: {count} tests of {module} pass in {seconds:.0f} s", flush=True)
        missed, times = [], collections.defaultdict(list)
        for it in chosen:
            failed, seconds, _ = find(it, options.copy)
            told = failed or (f"nothing: {it.reason}" if it.reason else "**nothing**")
            print(f"| {it.number} | {it.module} | {it.title} | {told} | {seconds:.0f} s |", flush=True)
            times[it.module].append(seconds)
            if not failed:
                missed.append(it)
        for module, seconds in times.items():
            found = len(seconds) - sum(it.module == module for it in missed)
            print(f"{module}: {found} of {len(seconds)} caught, median {statistics.median(seconds):.0f} s")
    except MutantError as error:
        print(f"WRONG: {error}", file=sys.stderr)
        return 1
    caught = len(chosen) - len(missed)
    print(f"{caught} of {len(chosen)} caught; {len(wrong)} do not fit the sources")
    return 1 if wrong or caught * 100 < options.at_least * len(chosen) else 0


if __name__ == "__main__":
    sys.exit(main())
