import shutil
import subprocess

from deployment import NightError, get, wait_for

TITLE = "the service account's key is revoked"
ALERT = "NudgeFCMRefuses"


def run(night):
    deployment = night.deployment
    deployment.set_faults([{"answer": "PERMISSION_DENIED"}])
    night.wait_for_alert(ALERT)
    wait_for("readiness to say so", lambda: not deployment.is_ready("dispatcher"))
    # Runbook, NudgeFCMRefuses: --check with the service's own flags says the same.
    check = subprocess.run(
        deployment.command("dispatcher") + ["--check"], capture_output=True, text=True, env=deployment.environment)
    if check.returncode != 1 or "PERMISSION_DENIED" not in check.stdout + check.stderr:
        raise NightError(f"--check does not tell: {check.returncode} {check.stdout}{check.stderr}")
    # A new key, under another name; from now on FCM lets the project in.
    key = deployment.directory / "new-key.json"
    shutil.copy(deployment.credentials, key)
    deployment.credentials = str(key)
    deployment.set_faults([])
    deployment.restart("dispatcher")
    wait_for("the dispatcher to be ready", lambda: deployment.is_ready("dispatcher"))
    if get(f"http://127.0.0.1:{deployment.admin_ports['dispatcher']}/metrics") is None:
        raise NightError("the dispatcher has no metrics")
