"""Sends messages through firebase-admin's send_each_async (HTTP/2), 500 a call, to an emulator of FCM that takes any
access token; prints one line of JSON.

firebase_admin_send.py URL COUNT, with SSL_CERT_FILE naming the emulator's certificate authority. send_each, without
"async", speaks HTTP/1.1, which the emulator does not.
"""

import asyncio
import json
import sys
import time

import firebase_admin
import google.oauth2.credentials
from firebase_admin import credentials, messaging

BATCH = 500


class AnyToken(credentials.Base):
    """No request for a token: it is not what is measured."""

    def get_credential(self) -> google.oauth2.credentials.Credentials:
        return google.oauth2.credentials.Credentials("ya29.benchmark")


async def main() -> None:
    url, count = sys.argv[1], int(sys.argv[2])
    # The library has no setting for this.
    messaging._MessagingService.FCM_URL = url + "/v1/projects/{0}/messages:send"
    firebase_admin.initialize_app(AnyToken(), {"projectId": "nudge-demo"})
    text = "Shall we meet at the harbour? " * 18

    def batch(size: int) -> list[messaging.Message]:
        notification = messaging.Notification(title="Ada in Launch", body=text)
        return [messaging.Message(token=f"token-{n}", notification=notification) for n in range(size)]

    # Open the connections first.
    await messaging.send_each_async(batch(BATCH))
    answered = failed = 0
    start, start_cpu = time.monotonic(), time.process_time()
    while answered + failed < count:
        result = await messaging.send_each_async(batch(min(BATCH, count - answered - failed)))
        answered += result.success_count
        failed += result.failure_count
        for response in result.responses:
            if response.exception:
                print(response.exception, file=sys.stderr)
                break
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
    asyncio.run(main())
