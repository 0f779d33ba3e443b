import json
import os
import subprocess
import time
import urllib.error
import urllib.request

from deployment import NightError, free_ports, get, say, wait_for

TITLE = "FCM fails every request for a while (NIGHT_FCM_SECONDS, 60 by default), and every place says so"
ALERT = "NudgePushesStand"
SECONDS = int(os.environ.get("NIGHT_FCM_SECONDS", "60"))
# How soon each place says that pushes stand, and that they leave again.
SOON = 30
TOKEN = "the-token-of-the-nights-console-1"


class Console:
    """The page Overview of `nudge console`, as a browser asks for it."""

    def __init__(self, deployment):
        port = free_ports(1)[0]
        self.url = f"http://127.0.0.1:{port}"
        self.log = open(deployment.directory / "console.log", "wb")
        self.process = subprocess.Popen(
            [str(deployment.programs / "nudge"), "console", "--port", str(port)], stdout=self.log, stderr=self.log,
            env=dict(deployment.environment, NUDGE_CONSOLE_TOKEN=TOKEN))
        self.key = None
        wait_for("the console", lambda: self.process.poll() is None and get(f"{self.url}/") is not None)
        self.key = json.loads(self.ask("GET", "api/console"))["key"]
        self.job, self.next, self.row = None, 0, None

    def ask(self, method, path, body=None):
        headers = {"X-Nudge-Token": TOKEN}
        if method != "GET":
            headers |= {"X-Nudge-Console": self.key, "Content-Type": "application/json", "Origin": self.url}
        request = urllib.request.Request(
            f"{self.url}/{path}", method=method, headers=headers, data=None if body is None else json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=15) as answer:
            return answer.read().decode()

    def pushes(self):
        """The tile of the pushes that wait, as of the last row."""
        try:
            text = self.ask("GET", f"api/jobs/{self.job}?after={self.next}")
        except urllib.error.HTTPError as error:
            # The console forgets a page that nobody looks at; it is opened again.
            if error.code != 404:
                raise
            self.job, self.next = json.loads(self.ask("POST", "api/jobs", {"ask": "overview", "with": {}}))["job"], 0
            text = self.ask("GET", f"api/jobs/{self.job}?after=0")
        lines = [json.loads(line) for line in text.splitlines()]
        *rows, state = lines
        self.next = state["next"]
        if state.get("error"):
            raise NightError(f"the console: {state['error']}")
        self.row = rows[-1] if rows else self.row
        return (self.row or {}).get("pushes") or {}

    def stop(self):
        self.process.terminate()
        self.process.wait(10)
        self.log.close()


def run(night):
    console = Console(night.deployment)
    try:
        watch(night, console)
    finally:
        console.stop()


def watch(night, console):
    deployment = night.deployment
    log = deployment.directory / "dispatcher.log"
    page = f"http://127.0.0.1:{deployment.admin_ports['dispatcher']}/readyz"

    def lines(message):
        return [line for line in log.read_text().splitlines() if f'"message":"{message}"' in line]

    def remarks():
        return json.loads(get(page) or "{}").get("remarks", {})

    def lag():
        return json.loads(deployment.nudge("lag", "--json", allow=(0, 1)).splitlines()[-1])["pushes"]

    def doctor():
        found = [json.loads(line) for line in deployment.nudge("doctor", "--json", allow=(0, 1)).splitlines()]
        return next(it for it in found if it["subject"] == "delivery")

    # Each place, and whether it says that pushes stand.
    places = {
        "the log": lambda: len(lines("pushes do not leave")) > len(lines("pushes leave again")),
        "/readyz": lambda: "pushes are without an outcome" in remarks().get("delivery", ""),
        "nudge lag": lambda: lag()["isStanding"],
        "nudge doctor": lambda: doctor()["weight"] == "problem",
        "the console": lambda: console.pushes().get("isStanding", False),
    }

    def within(expected):
        """When each place said so, in seconds from now. Each is asked in turn until it does."""
        since, open_places, said = time.monotonic(), dict(places), {}
        while open_places:
            for name, says in list(open_places.items()):
                if says() == expected:
                    said[name] = time.monotonic() - since
                    del open_places[name]
            if open_places and time.monotonic() - since > SOON:
                raise NightError(f"not within {SOON} s that pushes {'stand' if expected else 'leave again'}: {sorted(open_places)}; {said}")
            time.sleep(0.3)
        return ", ".join(f"{name} after {seconds:.0f} s" for name, seconds in said.items())

    began = time.monotonic()
    deployment.set_faults([{"answer": "UNAVAILABLE"}])
    say(f"  pushes stand: {within(True)}")
    counts = {"nudge lag": lag()["waiting"], "the console": console.pushes()["waiting"]}
    for name, text in (("/readyz", remarks()["delivery"]), ("the log", lines("pushes do not leave")[-1])):
        counts[name] = text if any(ch.isdigit() for ch in text) else 0
    if not all(counts.values()):
        raise NightError(f"no count: {counts}")
    if get(page) is None:
        raise NightError("the dispatcher is not ready: others would do no better")
    if deployment.nudge("lag", "--max-age", "5s", allow=(1,)) is None:
        raise NightError("nudge lag --max-age passes")
    night.wait_for_alert(ALERT)
    while time.monotonic() - began < SECONDS:
        time.sleep(1)
    minutes = len(lines("pushes still do not leave"))
    if minutes < (time.monotonic() - began) // 60 - 1:
        raise NightError(f"the log has only {minutes} lines of the minutes between")
    say(f"  after {time.monotonic() - began:.0f} s {lag()['waiting']} pushes wait, and the log has {minutes} lines of the minutes between")
    deployment.set_faults([])
    say(f"  pushes leave again: {within(False)}; {lag()['waiting']} wait now")
    night.wait_for_quiet(ALERT)
