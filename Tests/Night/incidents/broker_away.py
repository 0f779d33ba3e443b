import signal
import time

from deployment import wait_for

TITLE = "the broker is away for longer than a member's session, twice"
ALERT = "NudgeNotReady"
# Longer than a session (8 s): librdkafka gives the partitions up by itself.
AWAY = 36


def run(night):
    deployment = night.deployment
    for _ in range(2):
        # Stopped first, so that answers of FCM arrive that cannot be committed; then killed.
        deployment.kafka.signal(signal.SIGSTOP)
        stopped = time.monotonic()
        night.wait_for_alert(ALERT)
        deployment.kafka.wanted = False
        deployment.kafka.signal(signal.SIGKILL)
        deployment.kafka.thread.join(30)
        time.sleep(max(0, stopped + AWAY - time.monotonic()))
        # Runbook, NudgeNotReady: no broker answers, so look at the broker. No service needs a restart.
        deployment.start_kafka()
        deployment.wait_until_ready()
        night.wait_for_quiet(ALERT)
        wait_for("nothing to wait for longer than ten seconds", deployment.is_caught_up, every=2)
