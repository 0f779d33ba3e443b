"""What schemathesis does besides, when APIDocumentsTests runs it (SCHEMATHESIS_HOOKS)."""
import time

import schemathesis


@schemathesis.hook
def map_body(context, body):
    """Gives every event a time of now: those of the examples are of the past, and too old to be accepted."""
    now = int(time.time() * 1000)
    for event in body if isinstance(body, list) else [body]:
        if isinstance(event, dict) and isinstance(event.get("occurredAt"), int):
            event["occurredAt"] = now
    return body


@schemathesis.hook
def before_call(context, case, kwargs):
    """Long polls end within a second: at up to 25 s each they would leave no time for other requests."""
    wait = str((case.query or {}).get("wait", ""))
    if wait.isdigit() and int(wait) > 1:
        case.query["wait"] = 1
