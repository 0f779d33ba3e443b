import subprocess

from deployment import NightError, wait_for

TITLE = "a producer floods chat.events with rubbish"
ALERT = "NudgeDeadLetters"
COUNT = 500


def run(night):
    deployment = night.deployment
    # With other people's keys, so that it lands on all partitions, between their messages.
    rubbish = "".join(f'talk-{number % 40}\t{{"broken {number}\n' for number in range(COUNT))
    subprocess.run(
        ["kcat", "-P", "-b", deployment.servers, "-t", "chat.events", "-K", "\t", "-X", "topic.partitioner=murmur2_random"],
        input=rubbish, text=True, check=True, env=deployment.environment)
    night.wait_for_alert(ALERT)
    # Runbook, NudgeDeadLetters: why, and of how many; a flood that is rubbish is set aside.
    said = deployment.nudge("dead-letters", "list", "--since", "1h", allow=(1,))
    if "invalid_json" not in said or str(COUNT) not in said:
        raise NightError(f"dead-letters list does not tell of the flood: {said}")
    deployment.nudge("dead-letters", "discard", "--reason", "invalid_json", "--yes", "--why", "a flood of rubbish")
    wait_for("the list to be empty", lambda: "invalid_json" not in deployment.nudge(
        "dead-letters", "list", "--since", "1h", allow=(0, 1)))
