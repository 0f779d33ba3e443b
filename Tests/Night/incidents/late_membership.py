import json
import time

from deployment import NightError, event, say, text, wait_for

TITLE = "a membership import that comes too late"
ALERT = "NudgeDeadLetters"
COUNT = 40


def run(night):
    deployment, traffic = night.deployment, night.traffic
    began = time.time()
    now = int(began * 1000)
    # Conversations that nobody spoke of, and some of which a member is missing.
    traffic.publish([
        event("conversation.updated", f"half-{number}", now, conversationId=f"half-{number}", kind="group", name="Half",
              members=[{"userId": "bot", "displayName": "Bot"}, {"userId": "ghost", "displayName": "Ghost"}])
        for number in range(10)])
    for round in range(8):
        events = []
        for number in range(COUNT):
            name = f"late-{round}-{number}"
            traffic.note(name, number)
            events.append(event(
                "message.created", f"event-{name}", int(time.time() * 1000), conversationId=f"late-{number}", messageId=name,
                senderId="bot", text=f"words of {name}"))
        traffic.publish(events)
    for number in range(10):
        name = f"half-{number}"
        traffic.note(name, number)
        traffic.publish([event(
            "message.created", f"event-{name}", int(time.time() * 1000), conversationId=f"half-{number}", messageId=name,
            senderId="bot", text=f"@person-{number}: words of {name}", mentions=[f"person-{number}"])])
    night.wait_for_alert(ALERT)
    said = deployment.nudge("dead-letters", "list", "--since", "5m", "--reason", "unknown_conversation", allow=(1,))
    if str(8 * COUNT) not in said:
        raise NightError(f"dead-letters list does not tell of the messages: {said}")
    # The import: it carries its own time.
    at = int(time.time() * 1000)
    lines = [
        event("conversation.updated", f"import-late-{number}", at, conversationId=f"late-{number}", kind="direct",
              members=[{"userId": "bot", "displayName": "Bot"},
                       {"userId": f"person-{number}", "displayName": f"person-{number}"}])
        for number in range(COUNT)]
    lines += [
        event("conversation.member_added", f"import-half-{number}", at, conversationId=f"half-{number}",
              userId=f"person-{number}", displayName=f"person-{number}")
        for number in range(10)]
    traffic.publish(lines)
    wait_for("the import to be processed", lambda: deployment.is_caught_up())
    time.sleep(2)

    # Runbook, NudgeDeadLetters: a dry run, which leaves out who joined later, unless told of the import.
    selection = ["--since", text(began - 5), "--members", "current", "--max", "20000"]
    strict = json.loads(deployment.nudge("replay", "rederive", *selection[:2], "--json").splitlines()[-1])
    if strict["wouldSend"] or strict["standings"].get("joined_later") != 10:
        raise NightError(f"without --members current the dry run says {strict}")
    dry = json.loads(deployment.nudge("replay", "rederive", *selection, "--json").splitlines()[-1])
    if dry["wouldSend"] != 10 or dry["deadLetters"] != 8 * COUNT:
        raise NightError(f"the dry run says {dry}")
    deployment.nudge("replay", "rederive", *selection, "--yes", "--why", "the import came late", "--rate", "200")
    traffic.wait_until_delivered(traffic.since(began))
    again = json.loads(deployment.nudge("replay", "rederive", *selection, "--json").splitlines()[-1])
    if again["wouldSend"] or again["deadLetters"]:
        raise NightError(f"a second replay would write {again}")
    say(f"  {8 * COUNT} refused messages and 10 without their recipient were brought back")
