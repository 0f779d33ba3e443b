#!/usr/bin/env python3
"""How long `nudge explain` takes for a message of yesterday among millions of others, and the console until it shows the first.

  KAFKA_HOME=/path/to/kafka Tests/trial explain
  KAFKA_HOME=/path/to/kafka Tests/Explain/explain.py --programs .build/release --records 1000000

Fills nudge.decisions and nudge.timeline of a Kafka of its own with as many records each, spread over two days, and
nudge.pushes and nudge.outcomes with a tenth, all as the examples in Schemas have them; then asks about one message of 30 hours
ago, and about somebody who complains. The page Person of `nudge console` is asked about the whole time: about one of these people, and
about somebody whose only decision is the oldest of their partition. Needs a C compiler, librdkafka's headers, and about 1 GB for 10 million. Exits with 1
where a median is above --limit seconds, or an answer is wrong; the last person's time is told and not judged.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "Tests/Night"))
from deployment import Deployment, NightError, say  # noqa: E402

HOURS = 48
AGE = 30
PARTITIONS = 12


def template(path, **changes):
    """An example of the schemas as one line, with ids and times to be filled in."""
    record = json.loads((REPOSITORY / "Schemas" / path).read_text())
    record.update(changes)
    text = json.dumps(record, separators=(",", ":"), ensure_ascii=False)
    for old, new in [
        ('"ben"', '"user-@U@"'), ('"m-1"', '"m-@N@"'), ('"p-1"', '"p-@N@"'), ('"evt-01J9Z3"', '"evt-@N@"'),
        ('"c-engines"', '"c-@U@"'),
    ]:
        text = text.replace(old, new)
    for moment in ["1795275600250", "1795275600262", "1795275600264", "1795275600310"]:
        text = text.replace(moment, "@T@")
    return text


class World:
    def __init__(self, deployment, records, people):
        self.deployment, self.records, self.people = deployment, records, people
        self.until = int(time.time() * 1000)
        self.since = self.until - HOURS * 3_600_000
        # A message of the tenth that is pushed.
        self.wanted = records * (HOURS - AGE) // HOURS // 10 * 10
        self.program = deployment.directory / "fill"
        compiler = shutil.which("cc") or shutil.which("clang")
        if not compiler:
            raise NightError("a C compiler is missing: cc or clang")
        subprocess.run([compiler, "-O2", "-o", str(self.program), str(REPOSITORY / "Tests/Explain/fill.c"), "-lrdkafka"],
                       check=True)

    def fill(self, topic, key, text, first=0, end=None, step=1):
        """Returns the place of the last record."""
        done = subprocess.run(
            [self.program, self.deployment.servers, topic, key]
            + [str(it) for it in [first, self.records if end is None else end, step, self.records, self.people,
                                  self.since, self.until]],
            input=text, capture_output=True, text=True)
        if done.returncode:
            raise NightError(f"{topic}: {done.stderr}")
        partition, offset = done.stdout.split()
        return {"topic": topic, "partition": int(partition), "offset": int(offset)}

    def around(self, topic, key, text, wanted_text, step=1):
        """Fills a topic with the wanted record in its place. Returns where it is."""
        self.fill(topic, key, text, end=self.wanted, step=step)
        place = self.fill(topic, key, wanted_text, first=self.wanted, end=self.wanted + 1)
        self.fill(topic, key, text, first=self.wanted + step, step=step)
        return place

    def make(self):
        began = time.monotonic()
        event = self.fill("chat.events", "c-@U@", template("chat.events/examples/message.created/valid-full.json"),
                          first=self.wanted, end=self.wanted + 1)
        candidate = "nudge.timeline/examples/message.candidate/valid-direct.json"
        recipients = [{"userId": "ben", "context": {"mentioned": False, "named": True, "answered": True, "exchange": 2}}]
        origin = self.around("nudge.timeline", "user-@U@", template(candidate, recipients=recipients),
                             template(candidate, recipients=recipients, origin=event, source=event))
        suppressed = template("nudge.decisions/examples/decision/valid-suppress-muted.json")
        notified = template("nudge.decisions/examples/decision/valid-notify.json", origin=origin, source=event)
        self.fill("nudge.decisions", "user-rare", suppressed.replace("user-@U@", "user-rare"), end=1)
        decision = self.around("nudge.decisions", "user-@U@", suppressed, notified)
        push = template("nudge.pushes/examples/push/valid-message.json", origin=origin, source=event)
        place = self.around("nudge.pushes", "user-@U@", push, push, step=10)
        outcome = template("nudge.outcomes/examples/outcome/valid-sent.json", origin=place, source=event)
        self.around("nudge.outcomes", "user-@U@", outcome, outcome, step=10)
        size = sum(it.stat().st_size for it in (self.deployment.directory / "kafka").rglob("*.log"))
        say(f"  {2.2 * self.records:,.0f} records, {size / 1e9:.2f} GB of Kafka's files, in {time.monotonic() - began:.0f} s; "
            f"the decision is at {decision['partition']}@{decision['offset']}")

    def user(self):
        return f"user-{self.wanted * 2654435761 % 2**32 % self.people:08d}"

    def ask(self, times, *arguments):
        """Returns the answer, and how long it took each time. That nobody has a message is an answer too, with status 1."""
        taken = []
        for _ in range(times):
            began = time.monotonic()
            answer = json.loads(self.deployment.nudge("explain", "--user", self.user(), *arguments, "--json", allow=(0, 1)))
            taken.append(time.monotonic() - began)
        return answer, taken


class Console:
    """`nudge console` on the cluster, asked as its page asks."""

    def __init__(self, deployment, programs):
        self.process = subprocess.Popen(
            [pathlib.Path(programs) / "nudge", "console", "--port", "0", "--bootstrap-servers", deployment.servers],
            stdout=subprocess.PIPE, text=True)
        found = re.search(r"http://\S+", self.process.stdout.readline())
        if not found:
            raise NightError("nudge console said no address")
        self.url = found.group(0).rstrip("/")
        self.key = json.loads(self.request("/api/console"))["key"]

    def request(self, path, body=None):
        headers = {"Content-Type": "application/json"} if body else {}
        if body:
            headers |= {"Origin": self.url, "X-Nudge-Console": self.key}
        return urllib.request.urlopen(urllib.request.Request(self.url + path, body, headers), timeout=120).read().decode()

    def person(self, user, hours):
        """Returns the seconds until the first decision came, and until all was there; and the decisions."""
        began = time.monotonic()
        question = {"ask": "person", "with": {"user": user, "since": f"{hours}h", "limit": "1000"}}
        job = json.loads(self.request("/api/jobs", json.dumps(question).encode()))["job"]
        first, rows, after = None, [], 0
        while True:
            lines = [json.loads(line) for line in self.request(f"/api/jobs/{job}?after={after}").splitlines()]
            state = lines.pop()
            rows += [line for line in lines if line["row"] == "decision"]
            if rows and first is None:
                first = time.monotonic() - began
            after = state["next"]
            if state["done"]:
                if state.get("error"):
                    raise NightError(f"the console: {state['error']}")
                return first, time.monotonic() - began, rows

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(timeout=30)


def ask_console(world, options, wrong):
    """How long a person's page is empty."""
    console = Console(world.deployment, options.programs)
    try:
        for name, user, is_judged in [("somebody", world.user(), True), ("somebody with one decision, the oldest", "user-rare", False)]:
            firsts, alls = [], []
            for _ in range(options.times):
                first, everything, rows = console.person(user, HOURS + 1)
                if first is None:
                    wrong.append(f"the console found no decision of {user}")
                    return
                times = [row["decision"]["timestamp"] for row in rows]
                if times != sorted(times, reverse=True):
                    wrong.append(f"the console's decisions of {user} are not the latest first")
                firsts.append(first)
                alls.append(everything)
            median = statistics.median(firsts)
            say(f"  console, {name}: first row after {median:.2f} s (median of {', '.join(f'{it:.2f}' for it in firsts)}), "
                f"all of {len(rows)} after {statistics.median(alls):.2f} s")
            if is_judged and median > options.limit:
                wrong.append(f"the console's first row came after {median:.2f} s, more than {options.limit} s")
    finally:
        console.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", default=".build/release", help="where nudge is")
    parser.add_argument("--records", type=int, default=10_000_000, help="decisions, and records of the timeline")
    parser.add_argument("--people", type=int, default=100_000)
    parser.add_argument("--times", type=int, default=5, help="how often each question is asked")
    parser.add_argument("--limit", type=float, default=2.0, help="seconds that a median may take")
    options = parser.parse_args()
    if not os.environ.get("KAFKA_HOME"):
        parser.error("KAFKA_HOME is not set: KAFKA_HOME=/path/to/kafka Tests/trial explain")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    directory = pathlib.Path(tempfile.mkdtemp(prefix="nudge-explain-"))
    deployment = None
    wrong = []
    try:
        deployment = Deployment(os.environ["KAFKA_HOME"], options.programs, directory)
        deployment.start_kafka()
        deployment.nudge("topics", "create", "--partitions", str(PARTITIONS))
        world = World(deployment, options.records, options.people)
        say(f"filling: {options.records:,} decisions of {options.people:,} people over {HOURS} hours, {PARTITIONS} partitions")
        world.make()
        for question, arguments in [
            (f"--message, {AGE} hours old", ["--message", f"m-{world.wanted:08d}"]),
            ("--message, which there is not", ["--message", "m-unknown"]),
            ("--since 1h", ["--since", "1h"]),
        ]:
            answer, taken = world.ask(options.times, *arguments)
            median = statistics.median(taken)
            say(f"  explain {question}: median {median:.2f} s of {', '.join(f'{it:.2f}' for it in taken)}")
            if "hours old" in question:
                text = json.dumps(answer)
                if not all(f'"{it}-{world.wanted:08d}"' in text for it in ["m", "p"]) or '"sent"' not in text:
                    wrong.append(f"the answer is not the message's story: {text[:500]}")
                if median > options.limit:
                    wrong.append(f"explain {question} took {median:.2f} s, more than {options.limit} s")
        ask_console(world, options, wrong)
    except (NightError, subprocess.CalledProcessError) as error:
        wrong.append(str(error))
    finally:
        if deployment:
            deployment.stop()
        shutil.rmtree(directory, ignore_errors=True)
    for it in wrong:
        say(f"WRONG: {it}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
