import signal

from deployment import NightError, wait_for

TITLE = "the analyzer crashes"
ALERT = "NudgeRestarts"


def run(night):
    deployment = night.deployment
    analyzer = deployment.services["analyzer"]
    before = len(analyzer.log.read_text(errors="replace"))

    def said():
        return analyzer.log.read_text(errors="replace")[before:]

    # A real fault happens again once the backtrace is written, and ends the process. A signal from outside does not. A second one may
    # come while the handler holds the threads, and they never go on then.
    analyzer.signal(signal.SIGSEGV)
    wait_for("the backtrace", lambda: "Backtrace took" in said())
    analyzer.signal(signal.SIGKILL)
    night.wait_for_alert(ALERT)
    # Runbook, NudgeRestarts: the end of the log says how the process died. The supervisor has started another.
    if "Program crashed" not in said() or "the process before this one did not stop" not in said():
        raise NightError(f"the log does not tell of a crash: {said()[-1000:]}")
    wait_for("the analyzer to be ready", lambda: deployment.is_ready("analyzer"))
    if "NudgeCrashLoop" in deployment.firing():
        raise NightError("a single crash counts as a loop of them")
