from deployment import NightError

TITLE = "FCM's quota is used up"
ALERT = "NudgeFCMQuota"


def run(night):
    deployment = night.deployment
    deployment.set_faults([{"answer": "QUOTA_EXCEEDED", "retryAfter": "2"}])
    night.wait_for_alert(ALERT)
    # Runbook, NudgeFCMQuota: is it a replay? Nobody's; so: wait.
    if "running" in deployment.nudge("replay", "list"):
        raise NightError("a replay runs that nobody began")
    deployment.nudge("lag")
    deployment.set_faults([])
