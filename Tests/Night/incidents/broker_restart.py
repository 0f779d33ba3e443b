import signal
import time

from deployment import NightError, wait_for

TITLE = "the broker is gone for half a minute"
ALERT = "NudgeNotReady"


def run(night):
    deployment = night.deployment
    # Killed, not stopped: requests in flight are lost with it.
    deployment.kafka.wanted = False
    deployment.kafka.signal(signal.SIGKILL)
    deployment.kafka.thread.join(30)
    night.wait_for_alert(ALERT)
    # Runbook, NudgeNotReady: /readyz says that no broker answers. So look at the broker.
    if "no broker answers" not in deployment.not_ready("analyzer"):
        raise NightError(f"/readyz does not say why: {deployment.not_ready('analyzer')}")
    time.sleep(10)
    deployment.start_kafka()
    deployment.wait_until_ready()
    night.wait_for_quiet(ALERT)
    wait_for("nothing to wait for longer than ten seconds", deployment.is_caught_up, every=2)
