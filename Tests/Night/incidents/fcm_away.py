import json
import time

from deployment import NightError, say, text, wait_for

TITLE = "FCM is away for longer than the time budget of a push"
ALERT = "NudgeFCMFailing"


def run(night):
    deployment, traffic = night.deployment, night.traffic
    # A quarter of an hour of FCM's, in half a minute: the budget is shortened as the time is.
    deployment.restart("dispatcher", ["--fcm-time-budget", "10s"])
    wait_for("the dispatcher to be ready", lambda: deployment.is_ready("dispatcher"))
    # Requests in flight fail as well when FCM goes away.
    began = time.time() - 30
    deployment.set_faults([{"answer": "UNAVAILABLE"}])
    traffic.send("read-in-the-outage", 5)
    night.wait_for_alert(ALERT)
    wait_for("pushes to be given up", lambda: len(deployment.nudge(
        "tail", "outcomes", "--since", "2m", "--reason", "gave_up").splitlines()) > 60, at_most=120, every=2)
    # Somebody reads meanwhile, elsewhere: nothing of it is to be sent.
    traffic.read("read-in-the-outage")
    read = [name for name, it in traffic.since(0, traffic.messages["read-in-the-outage"]["at"] + 0.001).items()
            if it["person"] == 5 and it["at"] >= began]
    deployment.set_faults([])
    deployment.restart("dispatcher")
    wait_for("the dispatcher to be ready", lambda: deployment.is_ready("dispatcher"))
    night.wait_for_quiet(ALERT)
    # Pushes that still wait are sent by themselves.
    until = time.time() - 1
    wait_for("the lanes to be empty", lambda: (deployment.query("sum(nudge_lane_pushes)") or 0) <= 2)
    time.sleep(5)
    traffic.not_expected(set(read) & set(traffic.missing(traffic.since(began, until))))
    missing = traffic.missing(traffic.since(began, until))
    if len(missing) < 40:
        raise NightError(f"only {len(missing)} messages are missing: FCM was not away for long enough")

    # Runbook, NudgeFCMFailing: resend-missing counts them as notified; resend-failed, first as a dry run.
    selection = ["--since", text(began), "--until", text(until + 1)]
    other = json.loads(deployment.nudge("replay", "resend-missing", *selection, "--json").splitlines()[-1])
    if other["wouldSend"]:
        raise NightError(f"resend-missing would send {other['wouldSend']}: {other}")
    dry = json.loads(deployment.nudge("replay", "resend-failed", *selection, "--json").splitlines()[-1])
    if dry["wouldSend"] != len(missing):
        raise NightError(f"the dry run counts {dry['wouldSend']}, {len(missing)} are missing: {dry}")
    deployment.nudge("replay", "resend-failed", *selection, "--yes", "--why", "FCM was away", "--rate", "200")
    traffic.wait_until_delivered(traffic.since(began, until))
    again = json.loads(deployment.nudge("replay", "resend-failed", *selection, "--json").splitlines()[-1])
    if again["wouldSend"]:
        raise NightError(f"a second replay would send {again['wouldSend']}")
    say(f"  {len(missing)} were brought back, what was read meanwhile was not")
