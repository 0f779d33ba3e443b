#!/usr/bin/env python3
"""Rolls two instances of each service from one release to another and back under load, finalises its level, and holds all to the books.

  Tests/trial older LEVEL=next
  KAFKA_HOME=/opt/kafka Tests/Upgrade/upgrade.py .build/release .build-older/programs

The first folder has the programs of this release, the second those of a release of the next level. The order: half the way forward and
back, whole and back, forward again; then `nudge upgrade finalize`, refused while a process of this release runs, after it kills, and
this release once more, which must end with 70. Every message must have been at FCM once, and no process may have ended by itself before.
With --forward the first folder has the programs of a release before levels (0.2.0), from which there is only the way forward.
Exit code: 0 all is well, 1 something is not, 3 it cannot run here.
"""
import argparse
import os
import pathlib
import shutil
import signal as signals
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Network"))
from hosts import Here, run  # noqa: E402
from pipeline import SERVICES, Pipeline, cannot  # noqa: E402

ORDER = ["dispatcher", "analyzer", "ingest"]
RATE = 30


class Deployment(Pipeline):
    """Two supervised processes of each service."""

    SETTINGS = ["--admin-address", "127.0.0.1:0"]
    PORT = 19_492

    def __init__(self, programs, kafka, folder):
        self.running, self.starts, self.wrong, self.begun = {}, 0, [], False
        super().__init__(programs, kafka, folder, Here())

    def open(self):
        super().open()
        # Those that the pipeline began with have no names; named ones take their places.
        for service in SERVICES:
            process = self.processes.pop(service)
            process.terminate()
            process.wait(20)
        for service in ORDER:
            for slot in (1, 2):
                self.launch(service, slot, self.programs)
        self.go_on(lambda: self.is_ready())

    def launch(self, service, slot, programs):
        self.starts += 1
        name = f"{service}-{slot}-{self.starts}"
        self.start_service(name, programs, f"{service}-{slot}", ["--instance", f"slot{slot}"])
        self.running[service, slot] = (name, self.processes[name])

    def is_ready(self):
        return all('"message":"ready"' in self.log(name) or '"message":"is ready again"' in self.log(name)
                   for name, _ in self.running.values())

    def go_on(self, condition, seconds=90):
        """Publishes until a condition holds. A process that ends meanwhile is wrong."""
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise RuntimeError("not ready: " + ", ".join(
                    name for name, _ in self.running.values() if '"message":"ready"' not in self.log(name)))
            if self.begun:
                self.message()
            time.sleep(1 / RATE)
            for name, process in self.running.values():
                if process.poll() is not None:
                    raise RuntimeError(f"{name} ended with {process.returncode}: {self.log(name).splitlines()[-1][:400]}")

    def load(self, seconds):
        end = time.monotonic() + seconds
        self.go_on(lambda: time.monotonic() > end, seconds + 30)

    def roll(self, service, programs, slots=(1, 2), signal="TERM"):
        for slot in slots:
            name, process = self.running.pop((service, slot))
            process.send_signal(signals.Signals[f"SIG{signal}"])
            code = process.wait(30)
            if signal == "TERM" and code != 0:
                self.wrong.append(f"{name} ended with {code}")
            self.launch(service, slot, programs)
            self.go_on(self.is_ready)
            self.load(1)

    def nudge(self, programs, *arguments):
        done = subprocess.run(
            [str(programs / "nudge"), "upgrade", *arguments, "--bootstrap-servers", self.bootstrap],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        print(f"$ nudge upgrade {' '.join(arguments)}  → {done.returncode}\n{done.stdout}", flush=True)
        return done.returncode, done.stdout

    def expect(self, what, is_so):
        print(f"{'ok' if is_so else 'WRONG'}: {what}", flush=True)
        if not is_so:
            self.wrong.append(what)


def story(deployment, this, later):
    deployment.begin()
    deployment.begun = True
    deployment.load(5)
    print("half the way forward and back", flush=True)
    for programs in (later, this):
        deployment.roll("dispatcher", programs)
        deployment.roll("analyzer", programs, slots=(1,))
    print("whole, and back", flush=True)
    for programs in (later, this):
        for service in ORDER:
            deployment.roll(service, programs)
        deployment.load(5)
    print("forward again", flush=True)
    for service in ORDER[:2]:
        deployment.roll(service, later)
    deployment.roll("ingest", later, slots=(1,))
    code, text = deployment.nudge(later, "finalize", "--yes", "--why", "a trial")
    deployment.expect("it is not finalised while ingest of this release runs", code == 1 and "Not yet: ingest" in text)
    deployment.roll("ingest", later, slots=(2,))
    code, text = deployment.nudge(later, "finalize")
    deployment.expect("without --yes it says what ends", code == 0 and "Finalising ends this" in text and "Nothing was written" in text)
    deployment.expect("status says that it can be finalised", deployment.nudge(later, "status")[0] == 1)
    code, _ = deployment.nudge(later, "finalize", "--yes", "--why", "a trial")
    deployment.expect("it is finalised", code == 0)
    deployment.load(5)
    code, text = deployment.nudge(later, "status")
    deployment.expect("all tasks have the level", code == 0 and "4 at level 2" in text and "at level 1" not in text)
    # Not the dispatcher: one that dies with a request in flight may send it again.
    for service in ORDER[1:]:
        deployment.roll(service, later, slots=(1,), signal="KILL")
    deployment.load(10)
    code, text = deployment.nudge(this, "status")
    deployment.expect("this release says that the level is beyond it", "knows levels up to 1" in text)
    name, process = deployment.running.pop(("dispatcher", 2))
    process.terminate()
    process.wait(30)
    deployment.launch("dispatcher", 2, this)
    name, process = deployment.running.pop(("dispatcher", 2))
    deployment.go_on(lambda: process.poll() is not None)
    deployment.expect("this release ends with 70 then, and says why",
                      process.returncode == 70 and "is at level 2" in deployment.log(name))
    deployment.launch("dispatcher", 2, later)
    deployment.go_on(deployment.is_ready)
    deployment.wait("all messages to be at FCM", lambda: set(deployment.arrivals()) >= set(deployment.published), 120)


def forward(deployment, later):
    deployment.begin()
    deployment.begun = True
    deployment.load(5)
    run(str(later / "nudge"), "topics", "create", "--bootstrap-servers", deployment.bootstrap,
                "--partitions", "4", "--replication-factor", "1")
    for service in ORDER:
        print(f"{service} forward", flush=True)
        deployment.roll(service, later)
        deployment.load(5)
    deployment.expect("the later release finds all in order", deployment.nudge(later, "status")[0] == 0)
    deployment.wait("all messages to be at FCM", lambda: set(deployment.arrivals()) >= set(deployment.published), 120)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("this", type=pathlib.Path, help="the programs of this release")
    parser.add_argument("later", type=pathlib.Path, help="those of a release of the next level")
    parser.add_argument("--forward", action="store_true", help="from a release before levels to a later one")
    options = parser.parse_args()
    kafka = os.environ.get("KAFKA_HOME") or cannot("KAFKA_HOME is not set")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="nudge-upgrade-"))
    deployment, wrong = None, []
    try:
        deployment = Deployment(options.this.resolve(), kafka, folder)
        deployment.open()
        if options.forward:
            forward(deployment, options.later.resolve())
        else:
            story(deployment, options.this.resolve(), options.later.resolve())
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        wrong.append(str(error))
    finally:
        if deployment:
            deployment.end()
    wrong += deployment.wrong if deployment else []
    arrivals = deployment.arrivals() if deployment else {}
    published = deployment.published if deployment else {}
    times = [len(arrivals.get(message, [])) for message in published]
    print(f"{len(published)} messages: {times.count(1)} at FCM once, {times.count(0)} never, "
          f"{len(times) - times.count(1) - times.count(0)} more than once; {deployment.starts if deployment else 0} starts")
    if times.count(1) != len(times):
        wrong.append("not every message was at FCM once")
    for line in wrong[:20]:
        print(f"WRONG: {line}")
    if wrong:
        print(f"logs in {folder}")
        sys.exit(1)
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
