import json
import time

from deployment import NightError, say, text, wait_for

TITLE = "a deploy whose rules suppress everything"
ALERT = "NudgeNothingNotifies"


def run(night):
    deployment, traffic = night.deployment, night.traffic
    # The rule compares with the time before.
    wait_for("two minutes of good decisions", lambda: (deployment.query(
        'sum(increase(nudge_decisions_total{outcome="notify"}[1m] offset 2m))') or 0) > 100, at_most=240)
    # What was on its way when the deploy came is decided by its rules.
    began = time.time() - 10
    # A unit that was mistaken: all that is older than a second is too old.
    deployment.restart("analyzer", ["--freshness", "1s"])
    wait_for("the analyzer to be ready", lambda: deployment.is_ready("analyzer"))
    # Two that will be past an hour when the mistake is found, and one that is read meanwhile.
    traffic.send("stale-1", 1, age=3_600 - 60)
    traffic.send("stale-2", 2, age=3_600 - 60)
    traffic.send("read-1", 3)
    night.wait_for_alert(ALERT, at_most=180)
    said = deployment.nudge("tail", "decisions", "--since", "1m")
    if "expired" not in said:
        raise NightError(f"tail decisions does not show the reason: {said[:300]}")
    traffic.read("read-1")
    # Read up to it: what came before it in that conversation is read as well.
    read = [name for name, it in traffic.since(0, traffic.messages["read-1"]["at"] + 0.001).items()
            if it["person"] == 3 and it["at"] >= began]
    # Roll back.
    deployment.restart("analyzer")
    wait_for("the analyzer to be ready", lambda: deployment.is_ready("analyzer"))
    until = time.time() + 1
    time.sleep(max(0, traffic.messages["stale-2"]["at"] + 61 - time.time()))
    traffic.not_expected(["stale-1", "stale-2"])
    # Each person's pushes leave in order. Once FCM has a later push of everybody, it has the earlier ones.
    traffic.wait_until_everybody_has_one(until)
    # Messages notified before the mistake stay notified, also those that were read since.
    before = set(read) & set(traffic.missing(traffic.since(began, until)))
    traffic.not_expected(before | {"read-1"})
    missing = set(traffic.missing(traffic.since(began, until)))
    if len(missing) < 100:
        raise NightError(f"only {len(missing)} messages are missing: the mistake did nothing")

    # Runbook, NudgeNothingNotifies: a dry run, then the replay.
    selection = ["--since", text(began), "--until", text(until), "--reason", "expired"]
    replays = deployment.nudge("replay", "list")
    dry = json.loads(deployment.nudge("replay", "resend-missing", *selection, "--json").splitlines()[-1])
    # Catch-ups tell of some meanwhile, and one of a single message is that message's notification.
    left = len(missing & set(traffic.missing(traffic.since(began, until))))
    if not left <= dry["wouldSend"] <= len(missing):
        raise NightError(f"the dry run counts {dry['wouldSend']}, {len(missing)} were missing before it and {left} after it: {dry}")
    if deployment.nudge("replay", "list") != replays:
        raise NightError("the dry run began a replay")
    deployment.nudge("replay", "resend-missing", *selection, "--yes", "--why", "freshness of 1s by mistake", "--rate", "200")
    traffic.wait_until_delivered(traffic.since(began, until))
    # A second one finds nothing.
    again = json.loads(deployment.nudge("replay", "resend-missing", *selection, "--json").splitlines()[-1])
    if again["wouldSend"]:
        raise NightError(f"a second replay would send {again['wouldSend']}")
    say(f"  {left} were brought back, {len(missing) - left} came in catch-ups; 2 too old and {len(before | {'read-1'})} read meanwhile were not")
