"""Sends messages through firebase-admin's send_each, 500 a call, to an emulator of FCM; prints one line of JSON.

firebase_admin_send.py SERVICE_ACCOUNT URL COUNT, with REQUESTS_CA_BUNDLE naming the emulator's certificate authority.
"""

import json
import sys
import time

import firebase_admin
from firebase_admin import credentials, messaging

BATCH = 500


def main() -> None:
    account, url, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    # The library has no setting for it.
    messaging._MessagingService.FCM_URL = url + "/v1/projects/{0}/messages:send"
    firebase_admin.initialize_app(credentials.Certificate(account))
    text = "Shall we meet at the harbour? " * 18

    def batch(size: int) -> list[messaging.Message]:
        notification = messaging.Notification(title="Ada in Launch", body=text)
        return [messaging.Message(token=f"token-{n}", notification=notification) for n in range(size)]

    # Access token and connections first.
    messaging.send_each(batch(BATCH))
    answered = failed = 0
    start, start_cpu = time.monotonic(), time.process_time()
    while answered + failed < count:
        result = messaging.send_each(batch(min(BATCH, count - answered - failed)))
        answered += result.success_count
        failed += result.failure_count
    print(
        json.dumps(
            {
                "answered": answered,
                "failed": failed,
                "seconds": time.monotonic() - start,
                "cpuSeconds": time.process_time() - start_cpu,
            }
        )
    )


if __name__ == "__main__":
    main()
