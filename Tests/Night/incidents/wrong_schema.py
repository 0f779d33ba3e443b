import json
import subprocess
import time
import urllib.error
import urllib.request

from deployment import OTHER_KEY, NightError, event, say, wait_for

TITLE = "a producer with a wrong schema, over HTTP and on chat.events"
ALERT = "NudgeProducerRefused"
COUNT = 200


def message(traffic, name, person, version):
    made = event(
        "message.created", f"event-{name}", int(time.time() * 1000), conversationId=f"talk-{person}", messageId=name,
        senderId="bot", text=f"words of {name}")
    made["schemaVersion"] = version
    return made


def refused(deployment, events):
    """What the HTTP API answers a batch; its producer keeps what is refused."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{deployment.http_port}/v1/events", data="".join(json.dumps(it) + "\n" for it in events).encode(),
        method="POST", headers={"Authorization": f"Bearer {OTHER_KEY}", "Content-Type": "application/x-ndjson"})
    try:
        with urllib.request.urlopen(request, timeout=15) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def run(night):
    deployment, traffic = night.deployment, night.traffic
    # Over HTTP the producer learns of it at once, and continues.
    over_http = [f"http-{number}" for number in range(20)]
    for number, name in enumerate(over_http):
        traffic.note(name, number)
    # Straight to the topic nobody tells it.
    on_topic = [f"topic-{number}" for number in range(COUNT)]
    for number, name in enumerate(on_topic):
        traffic.note(name, number % 40)
    records = "".join(
        f"talk-{number % 40}\t{json.dumps(message(traffic, name, number % 40, 7))}\n" for number, name in enumerate(on_topic))
    subprocess.run(
        ["kcat", "-P", "-b", deployment.servers, "-t", "chat.events", "-K", "\t", "-X", "topic.partitioner=murmur2_random"],
        input=records, text=True, check=True, env=deployment.environment)

    def fires():
        status, said = refused(deployment, [message(traffic, name, number, 7) for number, name in enumerate(over_http)])
        if status != 400 or "unsupported_version" not in said:
            raise NightError(f"the HTTP API answered {status}: {said[:300]}")
        return ALERT in deployment.firing()

    wait_for(f"the alert {ALERT}", fires, at_most=120, every=1)
    say(f"  {ALERT} fires")
    # Runbook: tell the producer, which mends its events and sends them under the same ids.
    traffic.publish([message(traffic, name, number, 1) for number, name in enumerate(over_http)], key=OTHER_KEY)
    # Runbook, NudgeDeadLetters: what is on the topic is corrected here; first a dry run.
    edit = ["dead-letters", "edit", "--reason", "unsupported_version", "--since", "10m", "--set", "schemaVersion=1"]
    dry = json.loads(deployment.nudge(*edit, "--json").splitlines()[-1])
    if dry["edited"] != COUNT or dry["changed"] != {"schemaVersion": COUNT} or dry.get("replayId"):
        raise NightError(f"the dry run says {dry}")
    deployment.nudge(*edit, "--yes", "--why", "version 7 of the producer's last deploy", "--rate", "200")
    audit = deployment.nudge("tail", "audit", "--json", "--since", "5m", "--type", "dead_letters.handled")
    if '"edited"' not in audit or "schemaVersion" not in audit:
        raise NightError(f"the audit does not tell of the correction: {audit[:300]}")
    again = json.loads(deployment.nudge(*edit, "--json", allow=(1,)).splitlines()[-1])
    if again["edited"]:
        raise NightError(f"a second correction would write {again}")
