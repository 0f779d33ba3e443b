#!/usr/bin/env python3
"""Everybody's quiet hours end in the same minute: catch-ups are spread, nobody has two, none comes early, and none late.

  KAFKA_HOME=/path/to/kafka Tests/trial catch-ups PEOPLE=100000

One ingest and one analyzer on a real broker. Each person has a device, quiet hours, and one message that they held back. Exits with 1
where a catch-up is missing, comes twice or early, or more than --late seconds after the person's own moment in the spread.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

from deployment import Deployment, NightError, cpu_seconds, event, finish, say, wait_for

# A group has this many; more would not fit into one record.
MEMBERS = 500
SPREAD = 300
MASK = (1 << 64) - 1


def moment(user):
    """A person's milliseconds in the spread: FNV-1a of the id, spread by SplitMix64's finalizer (catchUpOffset in the analyzer)."""
    value = 0xCBF29CE484222325
    for byte in user.encode():
        value = ((value ^ byte) * 0x100000001B3) & MASK
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & MASK
    return (value ^ (value >> 31)) % (SPREAD * 1000)


class Reader:
    """Reads a topic as it grows, committed records only."""

    def __init__(self, deployment, topic, take):
        self.process = subprocess.Popen(
            ["kcat", "-C", "-q", "-u", "-b", deployment.servers, "-t", topic, "-o", "beginning", "-f", "%T %s\n",
             "-X", "isolation.level=read_committed", "-X", "topic.metadata.refresh.interval.ms=1000"],
            stdout=subprocess.PIPE, env=deployment.environment, text=True)
        self.thread = threading.Thread(target=self._run, args=(take,), daemon=True)
        self.thread.start()

    def _run(self, take):
        for line in self.process.stdout:
            time_of, text = line.split(" ", 1)
            take(int(time_of), text)

    def stop(self):
        self.process.terminate()


def publish(deployment, topic, events):
    """Writes events, each a key and fields, and waits until the broker has them."""
    process = subprocess.Popen(
        ["kcat", "-P", "-b", deployment.servers, "-t", topic, "-K", "\t", "-X", "partitioner=murmur2_random",
         "-X", "compression.codec=lz4", "-X", "linger.ms=50", "-X", "queue.buffering.max.messages=1000000"],
        stdin=subprocess.PIPE, env=deployment.environment, text=True)
    now = int(time.time() * 1000)
    for number, (kind, key, fields) in enumerate(events):
        process.stdin.write(f"{key}\t{json.dumps(event(kind, f'{kind}-{key}-{number}', now, **fields))}\n")
    process.stdin.close()
    if process.wait():
        raise NightError(f"kcat could not write to {topic}")


def resident_mib(pid):
    """Memory that a process has in RAM."""
    return int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20


def clock(minute):
    return time.strftime("%H:%M", time.gmtime(minute * 60))


def run(deployment, people, lead):
    policy = deployment.directory / "policy.json"
    policy.write_text(json.dumps({"defaultLevels": {"group": "all"}, "catchUp": {"spreadSeconds": SPREAD}}))
    deployment.more["analyzer"] = ["--policy", str(policy)]
    deployment.start_kafka()
    deployment.set_api_keys({"night": deployment.api_key})
    deployment.nudge("topics", "create", "--partitions", "12")
    for stage in ["ingest", "analyzer"]:
        deployment.start(stage)
        wait_for(f"{stage} to be ready", lambda: deployment.is_ready(stage), 90)

    users = [f"u{number}" for number in range(people)]
    counts = {"held": 0, "others": 0}
    catch_ups = []

    def take_decision(_, text):
        counts["held" if '"reason":"quiet_hours"' in text else "others"] += 1

    def take_push(at, text):
        if '"kind":"digest"' in text:
            push = json.loads(text)
            catch_ups.append((at, push["userId"], push["digest"]["messages"]))

    end = int(time.time() + lead) // 60 + 1
    quiet = {"start": clock(end - 600), "end": clock(end), "timeZone": "UTC"}
    say(f"quiet hours of {people} people end at {clock(end)} UTC")
    readers = [Reader(deployment, "nudge.decisions", take_decision), Reader(deployment, "nudge.pushes", take_push)]
    try:
        publish(deployment, "user.events", (
            ("device.registered", user, {
                "userId": user, "deviceId": f"{user}-d", "token": f"token-{user}", "platform": "android"})
            for user in users))
        publish(deployment, "user.events", (
            ("preferences.updated", user, {"userId": user, "preferences": {"quietHours": quiet}}) for user in users))
        groups = {f"g{first // MEMBERS}": users[first:first + MEMBERS] for first in range(0, people, MEMBERS)}
        publish(deployment, "chat.events", (
            ("conversation.updated", group, {
                "conversationId": group, "kind": "group", "name": group,
                "members": [{"userId": user, "displayName": user} for user in ["ada"] + members]})
            for group, members in groups.items()))
        say("people and groups are published")
        wait_for("ingest and the analyzer to know them", lambda: waiting(deployment) == 0, at_most=lead, every=2)
        publish(deployment, "chat.events", (
            ("message.created", group, {
                "conversationId": group, "messageId": f"m-{group}", "senderId": "ada", "text": "See you tomorrow"})
            for group in groups))
        wait_for("a decision for each", lambda: counts["held"] + counts["others"] >= people, at_most=lead, every=1)
        if time.time() > end * 60:
            raise NightError("quiet hours ended before all was decided: a larger --lead gives more time")
        if counts["others"]:
            raise NightError(f"{counts['others']} messages were not held back by quiet hours")
        pid = deployment.services["analyzer"].process.pid
        say(f"all are held back, {end * 60 - time.time():.0f} s before the end; the analyzer has {resident_mib(pid)} MiB")
        time.sleep(max(0, end * 60 - 1 - time.time()))
        before = cpu_seconds(pid)
        peak = [0]

        def is_told():
            peak[0] = max(peak[0], resident_mib(pid))
            return len(catch_ups) >= people

        wait_for("the catch-ups of all people", is_told, at_most=2 * SPREAD, every=1)
        spent = cpu_seconds(pid) - before
        # A second catch-up of a person would have come by now.
        time.sleep(5)
    finally:
        for reader in readers:
            reader.stop()
    return end * 60_000, catch_ups, spent, peak[0]


def waiting(deployment):
    """The records that ingest and the analyzer have not processed, the timeline's markers included."""
    report = json.loads(deployment.nudge("lag", "--json", allow=(0, 1, 2)))
    return sum(it["records"] for it in report["inputs"] if it["stage"] != "dispatcher")


def judge(people, end, catch_ups, late):
    """Prints the figures, and returns what is wrong."""
    wrong = []
    users = {user for _, user, _ in catch_ups}
    if len(users) != people or len(catch_ups) != people:
        wrong.append(f"{len(catch_ups)} catch-ups of {len(users)} people, who are {people}")
    if any(messages != 1 for _, _, messages in catch_ups):
        wrong.append("a catch-up tells of another number of messages than one")
    delays = sorted(at - end - moment(user) for at, user, _ in catch_ups)
    seconds = {}
    for at, _, _ in catch_ups:
        seconds[(at - end) // 1000] = seconds.get((at - end) // 1000, 0) + 1
    if delays:
        say(f"after their own moments: p50 {delays[len(delays) // 2]} ms, p99 {delays[len(delays) * 99 // 100]} ms, "
            f"at most {delays[-1]} ms, at least {delays[0]} ms; at most {max(seconds.values())} in a second, "
            f"{people / SPREAD:.0f} on average; the last {max(seconds)} s after the minute")
        if delays[0] < 0:
            wrong.append(f"one came {-delays[0]} ms early")
        if delays[-1] > late * 1000:
            wrong.append(f"one came {delays[-1]} ms late")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", default=".build/release", help="where nudge and the services are")
    parser.add_argument("--people", type=int, default=100_000)
    parser.add_argument("--lead", type=int, help="seconds before the quiet hours end; default: 120 and 1 for each 1,500 people")
    parser.add_argument("--late", type=float, default=10, help="seconds that a catch-up may be late")
    options = parser.parse_args()
    if options.people < 1 or options.lead is not None and options.lead < 1:
        parser.error("--people and --lead are at least 1")
    if not os.environ.get("KAFKA_HOME"):
        parser.error("KAFKA_HOME is not set: KAFKA_HOME=/path/to/kafka Tests/trial catch-ups")
    directory = pathlib.Path(tempfile.mkdtemp(prefix="nudge-catch-ups-"))
    say(f"logs and data are in {directory}")
    deployment = Deployment(os.environ["KAFKA_HOME"], options.programs, directory)
    wrong = []
    try:
        end, catch_ups, spent, peak = run(
            deployment, options.people, options.lead or 120 + options.people // 1500)
        wrong = judge(options.people, end, catch_ups, options.late)
        say(f"{len(catch_ups)} catch-ups took {spent:.1f} CPU seconds of the analyzer, {len(catch_ups) / spent:.0f} a CPU "
            f"second; at most {peak} MiB")
    except NightError as error:
        wrong.append(str(error))
    finally:
        wrong += deployment.stop()
    return finish(directory, wrong)


if __name__ == "__main__":
    sys.exit(main())
