#!/usr/bin/env python3
"""A conversation of the whole pipeline in a real Firefox, by Web Push: every message is shown once, whatever is killed.

  KAFKA_HOME=/path/to/kafka Tests/Browser/conversation.py --messages 1000 --kills 20 --offline 60 --rig ../shared/webpush

Runs a broker, the three services (the dispatcher without FCM) and the push service of the rig, which Firefox takes as its own. Somebody
writes messages at a rate; the dispatcher is killed, and Firefox is away for a while. Then a read on another device closes what is shown,
and an ended subscription is pruned. Every call of showNotification is recorded apart from the worker's own account. Exits with 1 where a
message was shown twice or not at all, or another step failed.

Needs Firefox (firefox-esr), and Python's hypercorn, h2 and cryptography: .build/python/bin/python has them after `make tools`.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(REPOSITORY / "Tests/Night"), str(REPOSITORY / "Tests/Browser")]
from deployment import Deployment, NightError, event, finish, free_ports, say, wait_for  # noqa: E402
from firefox import LIST, STILL, asked, compose  # noqa: E402

# Records what is shown before it is, with the worker's own registration; and takes its reports, as the services would.
WITNESS = """
{
  const request = self.fetch;
  self.fetch = (address, options) =>
    address === "/v1/events" ? Promise.resolve(new Response("{}", { status: 202 })) : request.call(self, address, options);
  const shows = ServiceWorkerRegistration.prototype.showNotification;
  ServiceWorkerRegistration.prototype.showNotification = async function (title, options) {
    const name = new URL(self.registration.scope).pathname.split("/")[2];
    await fetch("/rig/shown", { method: "POST", body: JSON.stringify({ name, title, messageId: options.data.messageId }) });
    return shows.call(this, title, options);
  };
}
"""
SIGN_IN = 'await NudgeStore.change((state) => { state.jwt = "a.user.token"; }); return true;'


class WithoutFCM(Deployment):
    """The dispatcher has a VAPID key alone."""

    def command(self, stage):
        command = super().command(stage)
        if stage == "dispatcher":
            at = command.index("--fcm-url")
            del command[at:at + 6]
        return command

    def start_emulator(self, record=True):
        self.fcm = {"url": "", "caFile": ""}
        self.credentials = ""


class Conversation:
    def __init__(self, options, directory):
        self.options = options
        self.random = random.Random(options.seed)
        self.wrong = []
        self.kills = 0
        self.deployment = WithoutFCM(os.environ["KAFKA_HOME"], options.programs, directory)
        self.rig = directory / "rig"
        self.rig.mkdir()
        compose(pathlib.Path(options.rig).resolve(), REPOSITORY / "Schemas/app/web", self.rig, WITNESS)
        self.port, self.tls_port = free_ports(2)
        self.service = subprocess.Popen(
            [sys.executable, str(self.rig / "push_server.py"), "--port", str(self.port), "--tls-port", str(self.tls_port),
             "--certs", str(directory / "certs"), "--record", str(directory / "record.jsonl"), "--need-sub"],
            stdout=subprocess.PIPE, stderr=(directory / "push_server.log").open("wb"))
        self.service.stdout.readline()
        sys.path.insert(0, str(self.rig))

    def publish(self, type_, **fields):
        self.deployment.publish([event(type_, **fields)])

    def write(self, number):
        self.publish("message.created", conversationId="talk", messageId=f"m{number}", senderId="ben", text=f"Message {number}")

    def start(self):
        deployment = self.deployment
        deployment.start_kafka()
        deployment.start_emulator()
        key = deployment.directory / "vapid.pem"
        public = deployment.nudge("vapid", "make", str(key)).split()[-1]
        deployment.more["ingest"] = ["--web-push-allow-private"]
        deployment.more["dispatcher"] = [
            "--vapid-key", str(key), "--vapid-subject", "mailto:ops@example.org", "--web-push-allow-private",
            "--web-push-ca-file", str(deployment.directory / "certs/ca.pem")]
        deployment.start_services()
        from browser import Browser
        self.firefox = Browser(f"http://localhost:{self.port}", prefs=STILL)
        self.firefox.start()
        subscription = self.firefox.subscribe("ada", public)
        asked(self.firefox, SIGN_IN)
        self.publish("device.registered", userId="ada", deviceId="tab", platform="web",
                     webPush={"endpoint": subscription["endpoint"], **subscription["keys"]})
        self.publish("preferences.updated", userId="ada", preferences={"maxAnalysesPerHour": 0, "fallback": "notify_all"})
        self.publish("conversation.updated", conversationId="talk", kind="direct",
                     members=[{"userId": "ben", "displayName": "Ben"}, {"userId": "ada", "displayName": "Ada"}])
        wait_for("the device to be known", lambda: "tab" in deployment.nudge("explain", "--user", "ada", allow=(0, 1)))

    def shown(self):
        """How often each message was shown."""
        return collections.Counter(it["messageId"] for it in self.firefox.reports("shown"))

    def wait_until_shown(self, count):
        """Until so many messages are shown, or none was for a minute. Each takes 50 ms of CPU in Firefox itself."""
        last, since = -1, time.monotonic()
        while (now := len(self.shown())) < count and time.monotonic() < since + 60:
            if now != last:
                last, since = now, time.monotonic()
            time.sleep(0.5)

    def open_page(self):
        self.firefox.marionette.call("WebDriver:Navigate", {"url": f"http://localhost:{self.port}/u/ada/"})
        asked(self.firefox, SIGN_IN)

    def talk(self):
        options = self.options
        at = sorted(self.random.sample(range(1, options.messages), options.kills))
        away = options.messages // 3 if options.offline else None
        back = None
        began = time.monotonic()
        for number in range(options.messages):
            time.sleep(max(0, began + number / options.rate - time.monotonic()))
            if number == away:
                # Pushes that Firefox has confirmed and not shown yet would be lost with it.
                self.wait_until_shown(number)
                began = time.monotonic() - number / options.rate
                say("Firefox goes away")
                self.firefox.stop()
                back = time.monotonic() + options.offline
            if back and time.monotonic() >= back:
                self.firefox.start()
                self.open_page()
                say("Firefox is back")
                back = None
            if at and number == at[0]:
                at.pop(0)
                self.deployment.services["dispatcher"].signal(signal.SIGKILL)
                self.kills += 1
            self.write(number)
        if back:
            time.sleep(max(0, back - time.monotonic()))
            self.firefox.start()
            self.open_page()
        say(f"{options.messages} messages are written, {self.kills} kills of the dispatcher")
        expected = {f"m{number}" for number in range(options.messages)}
        self.wait_until_shown(options.messages)
        # Longer than a request of a killed dispatcher waits to be sent again.
        time.sleep(20)
        shown = self.shown()
        missing, twice = sorted(expected - set(shown)), sorted(it for it, count in shown.items() if count > 1)
        posts = self.firefox.control("record?kind=http")
        taken = sum(1 for it in posts if it["status"] == 201)
        say(f"shown: {len(set(shown) & expected)} of {len(expected)} messages, {len(missing)} missing, {len(twice)} twice; "
            f"the push service took {taken} pushes; {time.monotonic() - began:.0f} s")
        if missing or twice:
            self.wrong.append(f"missing {missing[:10]}, twice {twice[:10]}")

    def read_elsewhere(self):
        """A read closes what is shown where the app is open."""
        last = self.options.messages
        before = len(self.firefox.reports("shown"))
        for number in range(last, last + 3):
            self.write(number)
        wait_for("three more to be shown", lambda: len(self.firefox.reports("shown")) == before + 3)
        if not asked(self.firefox, LIST):
            self.wrong.append("nothing is shown before the read")
        self.publish("user.activity", userId="ada", deviceId="tab", state="foreground")
        time.sleep(1)
        self.publish("message.read", userId="ada", deviceId="phone", conversationId="talk", messageId=f"m{last + 2}")
        began = time.monotonic()
        wait_for("the read to close what is shown", lambda: not asked(self.firefox, LIST), at_most=15, every=0.05)
        say(f"a read elsewhere closed all that was shown, {time.monotonic() - began:.1f} s after it")
        self.publish("user.activity", userId="ada", deviceId="tab", state="background")

    def unsubscribe(self):
        self.firefox.unsubscribe("ada")
        self.write(self.options.messages + 3)

        def is_pruned():
            return "invalid_token" in self.deployment.nudge(
                "explain", "--user", "ada", "--message", f"m{self.options.messages + 3}", "--conversation", "talk", allow=(0, 1))
        wait_for("the subscription that has ended to be pruned", is_pruned)
        wait_for("the device to be forgotten", lambda: not self.has_device())
        say("the ended subscription was pruned")

    def has_device(self):
        view = json.loads(self.deployment.nudge("explain", "--user", "ada", "--json", allow=(0, 1)))
        return any(it["isReachable"] for it in view["devices"] or [])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", default=str(REPOSITORY / ".build/debug"), help="where nudge and the services are")
    parser.add_argument("--rig", default=str(REPOSITORY / "../shared/webpush"), help="a folder with push_server.py and browser.py")
    parser.add_argument("--messages", type=int, default=60)
    parser.add_argument("--kills", type=int, default=2)
    parser.add_argument("--offline", type=float, default=0, help="seconds for which Firefox is away")
    parser.add_argument("--rate", type=float, default=3, help="messages a second; Firefox shows some 20 on a core of its own, 3 to 6 on a busy machine")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--keep", action="store_true", help="keep logs and data")
    options = parser.parse_args()
    if not os.environ.get("KAFKA_HOME"):
        parser.error("KAFKA_HOME is not set")
    if not 0 <= options.kills < options.messages:
        parser.error("--kills: fewer than messages")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    directory = pathlib.Path(tempfile.mkdtemp(prefix="nudge-conversation-"))
    say(f"seed {options.seed}; logs and data are in {directory}")
    run = Conversation(options, directory)
    try:
        run.start()
        run.talk()
        run.read_elsewhere()
        run.unsubscribe()
    except NightError as error:
        run.wrong.append(str(error))
    finally:
        if firefox := getattr(run, "firefox", None):
            firefox.stop()
        run.wrong += run.deployment.stop()
        run.service.terminate()
        run.service.wait(10)
    return finish(directory, run.wrong, options.keep)


if __name__ == "__main__":
    sys.exit(main())
