from deployment import API_KEY, OTHER_KEY, NightError, say, wait_for

TITLE = "an API key is rotated before its producer has the new one"
ALERT = "NudgeUnauthorized"
NEW_KEY = "the-new-key-of-the-night-that-nobody-else-has"


def run(night):
    deployment, traffic = night.deployment, night.traffic
    deployment.set_api_keys({"night": NEW_KEY, "import": OTHER_KEY})
    night.wait_for_alert(ALERT)
    # Runbook, NudgeUnauthorized: the old key beside the new one, without a restart.
    deployment.set_api_keys({"night": NEW_KEY, "night-old": API_KEY, "import": OTHER_KEY})
    night.wait_for_quiet(ALERT)

    def published(name):
        return deployment.query(f'sum(nudge_http_producer_events_total{{producer="{name}",result="published"}})') or 0

    wait_for("the old key to be used again", lambda: published("night-old") > 0)
    # The producer gets its new key; the old one is used no more, and goes.
    deployment.api_key = NEW_KEY
    before = published("night")
    wait_for("the new key to be used", lambda: published("night") > before + 5)
    deployment.set_api_keys({"night": NEW_KEY, "import": OTHER_KEY})
    after = published("night-old")
    wait_for("more events of the new key", lambda: published("night") > before + 20)
    if published("night-old") != after:
        raise NightError("the old key was still used")
    say("  the key was rotated without a restart")
