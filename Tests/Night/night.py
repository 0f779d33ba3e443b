#!/usr/bin/env python3
"""A scripted night on call: things go wrong, alerts find them, the runbook's commands mend them, nobody is notified twice.

  KAFKA_HOME=/path/to/kafka Tests/trial night
  KAFKA_HOME=/path/to/kafka Tests/Night/night.py --programs .build/release lost_disk bad_deploy

Each incident is a module of incidents/: TITLE, the ALERT that finds it, and run(night). Exits with 1 where an alert did not
fire, a command did not mend it, or somebody was notified twice or not at all.
"""

import argparse
import importlib
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

from deployment import Deployment, NightError, finish, say, wait_for
from traffic import Traffic

# In the order of the night. The deploy comes last: its rule compares with the time before.
INCIDENTS = [
    "poison_flood", "lost_disk", "crash", "credentials_revoked", "broker_restart", "broker_away", "fcm_quota", "fcm_stands", "fcm_away",
    "stuck_consumer", "late_membership",
    "wrong_schema", "rotated_key", "bad_deploy",
]


class Night:
    """What an incident has in its hands."""

    def __init__(self, deployment, traffic):
        self.deployment, self.traffic = deployment, traffic

    def wait_for_alert(self, name, at_most=120):
        began = time.monotonic()
        wait_for(f"the alert {name}; firing: {sorted(self.deployment.firing())}",
                 lambda: name in self.deployment.firing(), at_most)
        say(f"  {name} fires after {time.monotonic() - began:.0f} s")

    def wait_for_quiet(self, name, at_most=150):
        wait_for(f"the alert {name} to end", lambda: name not in self.deployment.firing(), at_most)


def run(incident, night):
    traffic = night.traffic
    module = importlib.import_module(f"incidents.{incident}")
    say(f"{incident}: {module.TITLE}")
    night.wait_for_quiet(module.ALERT)
    start = time.time()
    module.run(night)
    night.deployment.wait_until_ready()
    # Some more, that nobody touched.
    time.sleep(2)
    messages = traffic.since(start, time.time() - 0.5)
    traffic.wait_until_delivered(messages)
    say(f"  mended: {sum(it['expected'] for it in messages.values())} messages of it are delivered")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("incidents", nargs="*", metavar="incident", help="only these, in this order")
    parser.add_argument("--programs", default=".build/release", help="where nudge and the services are")
    parser.add_argument("--keep", action="store_true", help="keep logs and data also of a good night")
    options = parser.parse_args()
    unknown = set(options.incidents) - set(INCIDENTS)
    if unknown:
        parser.error(f"there is no incident {', '.join(sorted(unknown))}; there are {', '.join(INCIDENTS)}")
    if not os.environ.get("KAFKA_HOME"):
        parser.error("KAFKA_HOME is not set: KAFKA_HOME=/path/to/kafka Tests/trial night")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))

    directory = pathlib.Path(tempfile.mkdtemp(prefix="nudge-night-"))
    say(f"logs and data are in {directory}")
    failures, caught_up = [], set()
    deployment = Deployment(os.environ["KAFKA_HOME"], options.programs, directory)
    traffic = Traffic(deployment)
    began = time.monotonic()
    try:
        deployment.start_kafka()
        deployment.start_emulator()
        deployment.start_services()
        deployment.start_prometheus()
        traffic.start()
        # All programs start at once, perhaps slowly. The night begins when the rules find nothing wrong with messages on their way.
        started = time.time() + 5
        wait_for("the rules to see the traffic", lambda: deployment.has_judged_since(started))
        wait_for("no alert before anything goes wrong", lambda: not deployment.firing(), at_most=180)
        night = Night(deployment, traffic)
        for incident in options.incidents or INCIDENTS:
            try:
                run(incident, night)
            except (NightError, OSError, ValueError, subprocess.SubprocessError) as error:
                failures.append(f"{incident}: {error}")
                say(f"  FAILED: {error}")
        traffic.stop()
        # Every answer has been recorded by now, or will be within the services' own patience.
        try:
            traffic.wait_until_delivered(dict(traffic.messages))
            wait_for("all alerts to end", lambda: not deployment.firing(), at_most=180)
        except NightError as error:
            failures.append(f"the morning: {error}; firing: {sorted(deployment.firing())}")
        time.sleep(3)
        caught_up = traffic.caught_up()
    except NightError as error:
        failures.append(str(error))
    finally:
        traffic.running = False
        failures += deployment.stop()
    failures += traffic.judge(caught_up)
    counts = traffic.notified()
    say(f"{len(traffic.messages)} messages, {sum(it['expected'] for it in traffic.messages.values())} of them to notify; "
        f"{len(counts)} notifications by message, {sum(1 for it in counts.values() if it > 1)} of them twice; "
        f"{time.monotonic() - began:.0f} s")
    return finish(directory, failures[:20], options.keep)


if __name__ == "__main__":
    sys.exit(main())
