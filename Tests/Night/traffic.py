"""A chat that goes on all night, and the account of who was notified of what."""

import collections
import json
import subprocess
import threading
import time

from deployment import NightError, event, say, wait_for

PEOPLE = 40


def message_key(message):
    """What stands for a message in a catch-up: FNV-1a in 64 bits."""
    value = 0xCBF29CE484222325
    for byte in message.encode():
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{value:x}"


class Traffic:
    """One message after the other, each from a bot to one person who never answers: whoever is to be notified of it is
    known beforehand. A message that was not acknowledged is sent again, under the same event id, as a backend does."""

    def __init__(self, deployment, rate=5):
        self.deployment, self.publish, self.rate = deployment, deployment.publish, rate
        self.lock = threading.Lock()
        self.messages = {}
        self.running = True
        # Wall-clock seconds by which a message's own time lies back, as that of an app with a slow line.
        self.upload = 1.5
        self.thread = threading.Thread(target=self._run, daemon=True)

    def start(self):
        now = int(time.time() * 1000)
        events = []
        for number in range(PEOPLE):
            person = f"person-{number}"
            events.append(event("device.registered", f"device-{number}", now, userId=person, deviceId="phone",
                                token=f"token-of-{person}", platform="ios"))
            events.append(event("preferences.updated", f"preferences-{number}", now, userId=person,
                                preferences={"maxAnalysesPerHour": 1000}))
            events.append(event(
                "conversation.updated", f"conversation-{number}", now, conversationId=f"talk-{number}", kind="direct",
                members=[{"userId": "bot", "displayName": "Bot"}, {"userId": person, "displayName": person}]))
        self.publish(events)
        # Devices arrive by another topic than messages: wait for the last person's.
        wait_for("the people's devices to be known", lambda: "token" in self.deployment.nudge(
            "explain", "--user", f"person-{PEOPLE - 1}", allow=(0, 1)))
        self.thread.start()

    def _run(self):
        number = 0
        while self.running:
            try:
                self.send(f"m-{number}", number % PEOPLE)
            except NightError as error:
                # Told at the end, by the account.
                say(f"the chat: {error}")
            number += 1
            time.sleep(1 / self.rate)

    def send(self, message, person, age=None):
        """A message, noted before it is sent: what was acknowledged and not noted would be missing from the account."""
        now = time.time()
        with self.lock:
            self.messages[message] = {"person": person, "at": now, "expected": True}
        self.publish([event(
            "message.created", f"event-{message}", int((now - (self.upload if age is None else age)) * 1000),
            conversationId=f"talk-{person}", messageId=message, senderId="bot", text=f"words of {message}")])

    def note(self, message, person, expected=True):
        """A message that an incident sends itself."""
        with self.lock:
            self.messages[message] = {"person": person, "at": time.time(), "expected": expected}

    def read(self, message):
        """The person has read up to a message, elsewhere: nothing of it is to be sent any more."""
        person = self.messages[message]["person"]
        self.publish([event(
            "message.read", f"read-{message}", int(time.time() * 1000), userId=f"person-{person}",
            conversationId=f"talk-{person}", messageId=message)])

    def since(self, start, until=None):
        """The messages sent in a span."""
        with self.lock:
            return {
                name: dict(it) for name, it in self.messages.items()
                if it["at"] >= start and (until is None or it["at"] < until)
            }

    def not_expected(self, messages):
        """These are not to notify anybody."""
        with self.lock:
            for message in messages:
                self.messages[message]["expected"] = False

    # The account

    def notified(self):
        """How often FCM took a notification, by the phone's token and message."""
        counts = collections.Counter()
        if not self.deployment.requests.exists():
            return counts
        with open(self.deployment.requests, encoding="utf-8") as lines:
            for line in lines:
                if not line.endswith("\n"):
                    continue
                request = json.loads(line)
                message = (request.get("body") or {}).get("message") or {}
                told_of = (message.get("data") or {}).get("messageId")
                # A badge alone shows nothing.
                if request["status"] == 200 and told_of and message.get("notification"):
                    counts[message["token"], told_of] += 1
        return counts

    def records(self, topic):
        """All committed records of a topic."""
        done = subprocess.run(
            ["kcat", "-C", "-q", "-e", "-u", "-b", self.deployment.servers, "-t", topic, "-o", "beginning", "-f", "%s\n",
             "-X", "isolation.level=read_committed"],
            stdout=subprocess.PIPE, env=self.deployment.environment, text=True, timeout=60)
        if done.returncode:
            raise NightError(f"kcat could not read {topic}")
        return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]

    def caught_up(self):
        """The messages that a catch-up has, or is to have, in place of a notification of their own, by the phone's token."""
        pushes = self.records("nudge.pushes")
        left = {it["pushId"] for it in self.records("nudge.outcomes") if it.get("catchUp")}
        with self.lock:
            names = {message_key(name): name for name in self.messages}
        return {(f"token-of-{it['userId']}", it.get("messageId")) for it in pushes if it.get("pushId") in left} | {
            (f"token-of-{it['userId']}", names.get(key))
            for it in pushes for part in (it.get("digest") or {}).get("parts", []) for key in part["keys"]
        }

    def missing(self, messages):
        """Those of messages that should have notified and have not."""
        counts = self.notified()
        missing = {
            (f"token-of-person-{it['person']}", name) for name, it in messages.items() if it["expected"]
        } - set(counts)
        return sorted(name for _, name in missing - self.caught_up()) if missing else []

    def wait_until_delivered(self, messages, at_most=120):
        """Until FCM has all of them that should notify."""
        missing = []

        def done():
            nonlocal missing
            missing = self.missing(messages)
            return not missing

        try:
            wait_for("messages to be delivered", done, at_most, every=1)
        except NightError as error:
            raise NightError(f"{error}: {len(missing)} are missing, such as {missing[:5]}") from error

    def wait_until_everybody_has_one(self, start):
        """Until FCM has a message for each person that was sent after a time."""
        def enough():
            sent = self.since(start)
            return sent if len({it["person"] for it in sent.values()}) == PEOPLE else None

        self.wait_until_delivered(wait_for("a message to everybody", enough, at_most=120))

    def judge(self, caught_up):
        """What is wrong with the whole night; empty: every message that should notify did so, once, or is in a catch-up, and no other.
        `caught_up` was asked for while there was a broker."""
        counts = self.notified()
        if caught_up:
            say(f"{len(caught_up)} messages are left to catch-ups")
        wrong = []
        known = {(f"token-of-person-{it['person']}", name): it["expected"] for name, it in self.messages.items()}
        for key, expected in known.items():
            # One that is left to a catch-up alone comes as itself.
            if expected and counts[key] != 1 and not (counts[key] == 0 and key in caught_up):
                wrong.append(f"{key[1]} notified {counts[key]} times, not once")
            if not expected and counts[key]:
                wrong.append(f"{key[1]} notified {counts[key]} times, and should not have")
        wrong += [f"{key} was notified of and never sent" for key in counts if key not in known]
        return wrong

    def stop(self):
        self.running = False
        self.thread.join(150)
