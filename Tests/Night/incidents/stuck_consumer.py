import signal

from deployment import NightError, wait_for

TITLE = "the analyzer stands still (SIGSTOP) and holds its partitions"
ALERT = "NudgeDown"


def run(night):
    deployment = night.deployment
    analyzer = deployment.services["analyzer"]
    analyzer.signal(signal.SIGSTOP)
    night.wait_for_alert(ALERT)
    # Runbook, NudgeDown: the process exists and does not answer. Kill it; the supervisor restarts it.
    if analyzer.process.poll() is not None:
        raise NightError("the process has ended by itself")
    # Somebody is behind, and it says who.
    wait_for("nudge lag to tell of the analyzer", lambda: "analyzer" in deployment.nudge(
        "lag", "--max-age", "5s", allow=(0, 1)))
    analyzer.signal(signal.SIGKILL)
    wait_for("the analyzer to be ready", lambda: deployment.is_ready("analyzer"))
    night.wait_for_quiet(ALERT)
