import shutil
import signal
import time

from deployment import wait_for

TITLE = "the analyzer's disk is lost, and its process with it"
ALERT = "NudgeDown"


def run(night):
    deployment = night.deployment
    analyzer = deployment.services["analyzer"]
    place = deployment.state_directory("analyzer")
    # The mount is gone: what lies in its place is no folder, and a process that starts cannot use it.
    analyzer.signal(signal.SIGKILL)
    shutil.rmtree(place)
    place.write_text("not a folder\n")
    night.wait_for_alert(ALERT)
    wait_for("the supervisor's tries to end with 70", lambda: 70 in analyzer.statuses)
    # Runbook, "A disk is lost": another disk, empty. The service restores from Kafka by itself.
    place.unlink()
    place.mkdir()
    wait_for("the analyzer to be ready", lambda: deployment.is_ready("analyzer"))
    night.wait_for_quiet(ALERT)
    time.sleep(1)
