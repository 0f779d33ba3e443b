#!/usr/bin/env python3
"""Minutes of steady load on a real broker: no process ends, memory, files and threads stay flat, everything is accounted for.

  KAFKA_HOME=/path/to/kafka Tests/trial soak MINUTES=30
  KAFKA_HOME=/path/to/kafka Tests/Soak/soak.py --programs .build/release --minutes 1.6 --all-wake-ups 100000

Runs a broker, the FCM emulator, the three services and `nudge load`, and samples the services every few seconds: wake-ups and
transactions from /metrics; resident memory without mapped files, open files and threads from /proc. A line is fitted to the samples of
memory of the second half of the load. Of files and threads the lowest numbers of the half's first and last third are compared. The rise over
that half is bounded. Exits with 1 where a bound is passed, a process ended, too few threads were woken, or the
account does not balance.

With --all-wake-ups N the load goes on until the services have been woken N times, for at most four times the minutes: a machine that is busy
with something else wakes them less often.

With --receipts N phones publish `notification.received` for N of 100 pushes and open a tenth of these. With --console a headless Chromium
(CHROMIUM, or chromium) shows the Overview of `nudge console` the whole time. With --figures FILE the CPU seconds that each process used while
messages were published are written as JSON, so that two runs can be compared.
"""

import argparse
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "Tests/Night"))
from deployment import STAGES, Deployment, NightError, cpu_seconds, event, finish, free_ports, get, say, wait_for  # noqa: E402

# The pool of libdispatch has some threads more or less, and a connection that is renewed late has its file twice. A leak of one a minute
# passes this within ten minutes.
COUNTED = {"files": 3, "threads": 3}

# Sampled values, with the unit that is printed and the bytes or pieces of one. Cached rows fill up to a bound of their own, so memory
# without them must stay flatter.
SERIES = {"memory": ("MB", 1 << 20), "memory without cached rows": ("MB", 1 << 20), "files": ("files", 1), "threads": ("threads", 1)}

# How much longer than asked the load may last, to reach a number of wake-ups.
MOST_TIMES = 4

# How `nudge load` ends after a SIGINT, when it has checked its account.
INTERRUPTED = 130


class SoakDeployment(Deployment):
    """The night's deployment with more partitions and stream threads."""

    def __init__(self, kafka_home, programs, directory, partitions, threads):
        super().__init__(kafka_home, programs, directory)
        self.partitions = partitions
        self.more = {stage: ["--threads", str(threads)] for stage in STAGES}

    def start_services(self):
        (self.directory / "api-keys").write_text("soak a-key-of-the-soak-that-nobody-else-has\n")
        self.nudge("topics", "create", "--partitions", str(self.partitions))
        for stage in STAGES:
            self.start(stage)
        self.wait_until_ready()


class Sampler:
    """Looks at the services until it is stopped."""

    def __init__(self, deployment, every):
        self.deployment, self.every = deployment, every
        self.samples = {stage: [] for stage in STAGES}
        self.began = time.monotonic()
        self.failure = None
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def start(self):
        self.thread.start()

    def stop(self):
        self.stopping.set()
        self.thread.join()

    def _run(self):
        while not self.stopping.is_set():
            for stage in STAGES:
                try:
                    self.samples[stage].append(self.sample(stage))
                except (NightError, OSError, IndexError) as error:
                    # A process that has ended is told by its status; here the first reason is kept.
                    self.failure = self.failure or f"{stage} could not be sampled: {error}"
            self.stopping.wait(self.every)

    def wake_ups(self):
        """Those of all services since the first sample."""
        return sum(it[-1]["wake-ups"] - it[0]["wake-ups"] for it in self.samples.values() if it)

    def sample(self, stage):
        """Time since the start, and the values of a service now."""
        process = pathlib.Path(f"/proc/{self.deployment.services[stage].process.pid}")
        status = (process / "status").read_text()
        page = get(f"http://127.0.0.1:{self.deployment.admin_ports[stage]}/metrics")
        if page is None:
            raise NightError("/metrics does not answer")
        memory = int(re.search(r"RssAnon:\s+(\d+) kB", status)[1]) << 10
        return {
            "at": time.monotonic() - self.began,
            "memory": memory,
            "memory without cached rows": memory - metric(page, "nudge_cached_row_bytes"),
            "threads": int(re.search(r"Threads:\s+(\d+)", status)[1]),
            "files": len(os.listdir(process / "fd")),
            "wake-ups": metric(page, "nudge_thread_wakeups_total"),
            "transactions": metric(page, "nudge_transactions_total"),
        }


class Phones(threading.Thread):
    """Reads pushes of messages and publishes the receipts of the phones that got them."""

    def __init__(self, deployment, percent):
        super().__init__(daemon=True)
        self.percent, self.random, self.receipts = percent, random.Random(7), 0
        kcat = ["kcat", "-b", deployment.servers, "-q", "-X", "client.id=soak-phones"]
        self.reader = subprocess.Popen(
            kcat + ["-C", "-u", "-t", "nudge.pushes", "-o", "end", "-X", "topic.metadata.refresh.interval.ms=2000"],
            stdout=subprocess.PIPE, env=deployment.environment)
        self.writer = subprocess.Popen(
            kcat + ["-P", "-t", "user.events", "-K", "\t", "-X", "linger.ms=50", "-X", "topic.partitioner=murmur2_random"],
            stdin=subprocess.PIPE, text=True, bufsize=1, env=deployment.environment)

    def run(self):
        for line in self.reader.stdout:
            push = json.loads(line)
            if push.get("type") != "push" or push.get("kind") != "message":
                continue
            for target in push["targets"]:
                if self.random.random() * 100 < self.percent:
                    self.publish(push, target, "notification.received")
                    if self.random.random() < 0.1:
                        self.publish(push, target, "notification.opened")

    def publish(self, push, target, kind):
        self.receipts += 1
        receipt = event(
            kind, f"soak-receipt-{self.receipts}", userId=push["userId"], deviceId=target["deviceId"], pushId=push["pushId"],
            conversationId=push["conversationId"], messageId=push["messageId"])
        try:
            self.writer.stdin.write(f"{push['userId']}\t{json.dumps(receipt)}\n")
        except (BrokenPipeError, ValueError):
            # The soak has ended.
            pass

    def stop(self):
        self.reader.kill()
        self.join(10)
        self.writer.stdin.close()
        self.writer.wait(10)
        say(f"phones published {self.receipts:,} receipts")


class Watcher:
    """`nudge console`, and a browser that shows its Overview."""

    def __init__(self, deployment):
        port = free_ports(1)[0]
        self.console = subprocess.Popen(
            [str(deployment.programs / "nudge"), "console", "--port", str(port), "--admin",
             ",".join(f"127.0.0.1:{it}" for it in deployment.admin_ports.values())],
            stdout=subprocess.DEVNULL, stderr=open(deployment.directory / "console.log", "wb"), env=deployment.environment)
        url = f"http://127.0.0.1:{port}/"
        wait_for("the console", lambda: get(url))
        self.browser = subprocess.Popen(
            [os.environ.get("CHROMIUM", "chromium"), "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0",
             f"--user-data-dir={deployment.directory}/chromium", url],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=deployment.environment)

    def stop(self):
        for process in (self.browser, self.console):
            process.terminate()
            process.wait(20)


def processes(deployment, watcher):
    """The process ids whose CPU is told, by name."""
    found = {stage: deployment.services[stage].process.pid for stage in STAGES}
    found["broker"] = deployment.kafka.process.pid
    if watcher:
        found["console"] = watcher.console.pid
    return found


def metric(page, name):
    """The sum of a metric's series."""
    return sum(float(it.rsplit(" ", 1)[1]) for it in page.splitlines() if re.match(rf"{name}[ {{]", it))


def slope(points):
    """The rise a second of the line fitted to points of (time, value), by least squares."""
    count = len(points)
    mean_at = sum(at for at, _ in points) / count
    mean = sum(value for _, value in points) / count
    spread = sum((at - mean_at) ** 2 for at, _ in points)
    return sum((at - mean_at) * (value - mean) for at, value in points) / spread if spread else 0.0


def judge(sampler, seconds, bounds, wake_ups, all_wake_ups):
    """Prints the samples' summary. Returns what is wrong."""
    wrong, total = [], 0
    for stage in STAGES:
        samples = [it for it in sampler.samples[stage] if it["at"] <= seconds]
        half = [it for it in samples if it["at"] >= seconds / 2]
        if len(half) < 5:
            wrong.append(f"{stage}: only {len(half)} samples of the second half: {sampler.failure}")
            continue
        # Without the time before the load.
        woken = int(samples[-1]["wake-ups"] - samples[0]["wake-ups"])
        committed = int(samples[-1]["transactions"] - samples[0]["transactions"])
        say(f"{stage}: {woken:,} wake-ups ({woken / seconds:.0f}/s), {committed:,} transactions")
        total += woken
        if woken < wake_ups * seconds / 60:
            wrong.append(f"{stage}: {woken:,} wake-ups, fewer than {wake_ups:,} a minute: a soak with less proves less")
        span = half[-1]["at"] - half[0]["at"]
        for name, (unit, one) in SERIES.items():
            values = [it[name] / one for it in half]
            if name in COUNTED:
                third = max(1, len(values) // 3)
                rise = min(values[-third:]) - min(values[:third])
            else:
                rise = span * slope([(it["at"], it[name] / one) for it in half])
            say(f"  {name}: {min(values):.0f} to {max(values):.0f} {unit} in the second half, {rise:+.2f} over {span:.0f} s "
                f"(at most {bounds[name]:+.1f})")
            if rise > bounds[name]:
                wrong.append(f"{stage}: {name} rose by {rise:.2f} {unit} within {span:.0f} s, more than {bounds[name]}")
    if total < all_wake_ups:
        wrong.append(f"{total:,} wake-ups of all services, fewer than {all_wake_ups:,}: a soak with less proves less")
    return wrong


def load(deployment, options, output):
    """Starts `nudge load`; its summary goes to a file."""
    command = [
        str(deployment.programs / "nudge"), "load", "--yes", "--json", "--rate", str(options.rate), "--groups", str(options.groups),
        "--duration", f"{options.minutes * 60 * (MOST_TIMES if options.all_wake_ups else 1):.0f}s",
    ]
    with open(output, "wb") as summary, open(deployment.directory / "load.log", "wb") as log:
        return subprocess.Popen(command, stdout=summary, stderr=log, env=deployment.environment)


def ended(deployment):
    """The services and others that have ended by themselves."""
    running = [deployment.kafka, deployment.emulator, *deployment.services.values()]
    return [f"{it.name} ended with {it.statuses}: the end of its log: {tail(it.log)}" for it in running if it.statuses]


def tail(log, lines=25):
    return "\n".join(log.read_text(errors="replace").splitlines()[-lines:])


def soak(deployment, options):
    """Runs it. Returns what is wrong."""
    deployment.start_kafka()
    # A record of the requests would be gigabytes; the account goes by outcomes.
    deployment.start_emulator(record=False)
    deployment.start_services()
    summary = deployment.directory / "load.json"
    say(f"{options.rate} messages a second for {options.minutes} minutes; logs and data are in {deployment.directory}")
    phones = Phones(deployment, options.receipts) if options.receipts else None
    watcher = Watcher(deployment) if options.console else None
    if phones:
        phones.start()
    process = load(deployment, options, summary)
    try:
        return watch(deployment, options, process, summary, watcher)
    finally:
        for it in (phones, watcher):
            it and it.stop()
        # Where this script was ended.
        if process.poll() is None:
            process.kill()


def watch(deployment, options, process, summary, watcher):
    """Samples the services until the load has ended. Returns what is wrong."""
    # Devices are published before the first message.
    wait_for("the first messages", lambda: process.poll() is not None or first_decision(deployment), at_most=180)
    seconds = options.minutes * 60
    sampler = Sampler(deployment, every=max(1.0, seconds / 200))
    sampler.start()
    pids = processes(deployment, watcher)
    began = {name: cpu_seconds(pid) for name, pid in pids.items()}
    used, spent_at = began, time.monotonic()
    told, ending = 0, False
    while process.poll() is None:
        time.sleep(0.5)
        if gone := ended(deployment):
            process.send_signal(signal.SIGINT)
            sampler.stop()
            process.wait(300)
            return gone
        if not ending:
            used, spent_at = {name: cpu_seconds(pid) for name, pid in pids.items()}, time.monotonic()
            ending = spent_at - sampler.began > seconds and sampler.wake_ups() >= options.all_wake_ups
            if ending and options.all_wake_ups:
                process.send_signal(signal.SIGINT)
        if sampler.samples["dispatcher"] and time.monotonic() - sampler.began > told + 60:
            told += 60
            say("  " + ", ".join(
                f"{stage} {int(it[-1]['wake-ups']):,} wake-ups {it[-1]['memory'] / (1 << 20):.0f} MB"
                for stage, it in sampler.samples.items() if it))
    sampler.stop()
    spent = {name: used[name] - began[name] for name in pids}
    lasted = spent_at - sampler.began
    say(f"CPU seconds within {lasted:.0f} s: " + ", ".join(f"{name} {value:.1f}" for name, value in spent.items()))
    if options.figures:
        pathlib.Path(options.figures).write_text(json.dumps({"seconds": lasted, "cpuSeconds": spent}) + "\n")
    wrong = judge(sampler, lasted, options.bounds, options.wake_ups, options.all_wake_ups)
    try:
        told = json.loads(summary.read_text())
        say(f"load: {told['messages']:,} messages, {told['rateAchieved']}/s, {told['candidates']:,} candidates, "
            f"{told['targets']:,} targets of pushes, outcomes {told['outcomes']}, latency {told['latencyMs']}")
        for check in told["account"]["checks"]:
            say(f"  {'ok' if check['ok'] else 'WRONG'}: {check['name']}: {check['found']:,}")
            if not check["ok"]:
                wrong.append(f"{check['name']}: {check['found']:,} in place of {check['expected']:,}")
        for quota, count in told["account"]["waiting"].items():
            say(f"  waiting, in the lanes, for FCM's quota ({quota}): {count:,}")
    except (ValueError, KeyError) as error:
        wrong.append(f"nudge load printed no summary ({error}): {tail(deployment.directory / 'load.log')}")
    if process.returncode not in ((0, INTERRUPTED) if ending and options.all_wake_ups else (0,)):
        wrong.append(f"nudge load ended with {process.returncode}: {tail(deployment.directory / 'load.log')}")
    return wrong + ended(deployment)


def first_decision(deployment):
    page = get(f"http://127.0.0.1:{deployment.admin_ports['analyzer']}/metrics")
    return page is not None and metric(page, "nudge_decisions_total") > 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", default=".build/release", help="the folder of nudge, the services and the emulator")
    parser.add_argument("--minutes", type=float, default=30, help="how long messages are published")
    parser.add_argument("--rate", type=float, default=100, help="messages a second: a busy broker makes fewer, larger batches")
    parser.add_argument("--groups", type=int, default=0, help="groups of the chat; by default enough for FCM's limit a device")
    parser.add_argument("--wake-ups", type=int, default=0, help="wake-ups a minute that each service must reach")
    parser.add_argument("--all-wake-ups", type=int, default=0, help="wake-ups that the services must reach together: the load goes on until then")
    parser.add_argument("--partitions", type=int, default=4)
    parser.add_argument("--threads", type=int, default=2, help="stream threads of each service: more threads commit smaller transactions")
    parser.add_argument("--memory", type=float, default=8, help="MB by which memory without cached rows may rise in the second half")
    parser.add_argument("--receipts", type=float, default=0, help="of 100 pushes, how many the phones confirm; one in ten of these is opened")
    parser.add_argument("--console", action="store_true", help="show the Overview of nudge console in a headless Chromium the whole time")
    parser.add_argument("--figures", help="a file for the CPU seconds of each process, as JSON")
    parser.add_argument("--keep", action="store_true", help="keep logs and data also of a good run")
    options = parser.parse_args()
    if not os.environ.get("KAFKA_HOME"):
        parser.error("KAFKA_HOME is not set: KAFKA_HOME=/path/to/kafka Tests/trial soak")
    # FCM takes 5,000 pushes an hour for one Android device: the busiest of them must stay below.
    options.groups = options.groups or max(64, int(options.rate * options.minutes / 5))
    options.bounds = {"memory without cached rows": options.memory, "memory": options.memory * 3, **COUNTED}
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))

    directory = pathlib.Path(tempfile.mkdtemp(prefix="nudge-soak-"))
    deployment = SoakDeployment(os.environ["KAFKA_HOME"], options.programs, directory, options.partitions, options.threads)
    wrong = []
    try:
        wrong += soak(deployment, options)
    except NightError as error:
        wrong.append(str(error))
    finally:
        wrong += deployment.stop()
    return finish(directory, wrong, options.keep)


if __name__ == "__main__":
    sys.exit(main())
