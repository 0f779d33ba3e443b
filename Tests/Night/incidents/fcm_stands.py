import json
import os
import time

from deployment import NightError, get, say, wait_for

TITLE = "FCM fails every request for a while (NIGHT_FCM_SECONDS, 60 by default), and every place says so"
ALERT = "NudgePushesStand"
SECONDS = int(os.environ.get("NIGHT_FCM_SECONDS", "60"))


def run(night):
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
    }

    def within(seconds, expected):
        since = time.monotonic()
        for name, says in places.items():
            wait_for(f"{name} to say that pushes {'stand' if expected else 'leave again'}", lambda: says() == expected,
                     at_most=max(1, seconds - (time.monotonic() - since)))
        return time.monotonic() - since

    began = time.monotonic()
    deployment.set_faults([{"answer": "UNAVAILABLE"}])
    took = within(30, True)
    count = lag()["waiting"]
    if count < 1 or not any(ch.isdigit() for ch in remarks()["delivery"]):
        raise NightError(f"no count: {count}, {remarks()}")
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
    deployment.set_faults([])
    # Each task finds out for itself: one all of whose devices wait tries a push within a minute of its last failure.
    left = within(75, False)
    night.wait_for_quiet(ALERT)
    say(f"  all four places said so within {took:.0f} s, with {lag()['waiting']} waiting now, and that it was over within {left:.0f} s")
