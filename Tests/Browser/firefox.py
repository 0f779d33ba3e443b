#!/usr/bin/env python3
"""A headless Firefox with the worker of Schemas/app/web, for a test that sends to it.

usage: firefox.py RIG WEB VAPID_PUBLIC_KEY

RIG is a folder with push_server.py and browser.py, which a real Firefox takes as its push service; WEB has push-worker.js and
store.js. Prints the subscription as a line of JSON, then answers each line of standard input with one:

  shown COUNT      what is shown, as [{"title", "body", "tag"}], once that many notifications are, at latest after 20 s
  click TITLE      clicks on the notification with this title as a person does, and says whether there was one
  leave            closes the app's page: what is open is none of its pages, and says true
  opened           the addresses of what is open, once one is the app's, at latest after 20 s
  told M E         what the worker told the page and what it keeps to report, once there are M messages and E events, as
                   {"messages": [...], "outbox": ["TYPE MESSAGE"]}, at latest after 20 s
  gone             ends the subscription at the service, and says true

Ends, with Firefox and the service, at the end of standard input.
"""
import json
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

# Without them Firefox spends most of its time on moving the windows of its notifications.
STILL = {"alerts.disableSlidingEffect": True, "ui.prefersReducedMotion": 1, "toolkit.cosmeticAnimations.enabled": False}
SIGNED_IN = {"userId": "ada", "deviceId": "tab", "jwt": None}
LIST = """
const registration = await navigator.serviceWorker.getRegistration();
const all = await registration.getNotifications();
return all.map((one) => ({ title: one.title, body: one.body, tag: one.tag }));
"""


TOLD = """
const outbox = await NudgeStore.change((state) => state.outbox.map((event) => event.type + " " + event.messageId));
return { messages: globalThis.messages, outbox };
"""
OPEN = "return Services.wm.getMostRecentWindow('navigator:browser').gBrowser.tabs.map(t => t.linkedBrowser.currentURI.spec)"


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def compose(rig, web, folder, before=""):
    """The rig with our worker in place of its own, and a script before it. The rig serves one page and one worker, so the store is in both."""
    for file in rig.glob("*.py"):
        shutil.copy(file, folder / file.name)
    (folder / "page").mkdir()
    store = (web / "store.js").read_text()
    worker = (web / "push-worker.js").read_text()
    line = 'importScripts("store.js");\n'
    assert line in worker, "push-worker.js no longer loads store.js"
    (folder / "page" / "sw.js").write_text(before + store + worker.replace(line, ""))
    page = (rig / "page" / "index.html").read_text()
    sign_in = f"NudgeStore.change((state) => Object.assign(state, {json.dumps(SIGNED_IN)}));"
    keep = "globalThis.messages = []; navigator.serviceWorker.addEventListener('message', (event) => messages.push(event.data));"
    (folder / "page" / "index.html").write_text(f"{page}<script>{store}\n{sign_in}\n{keep}</script>")


def until(is_right, look):
    """What is found once it is right, or after 20 s."""
    deadline = time.monotonic() + 20
    while True:
        found = look()
        if is_right(found) or time.monotonic() > deadline:
            return found
        time.sleep(0.05)


def asked(firefox, script):
    return firefox.marionette.script(f"return (async () => {{ {script} }})()")


def opened(firefox, app):
    """Tabs, once one is the app's; the driver goes to that one."""
    tabs = until(lambda tabs: any(tab.startswith(app) for tab in tabs),
                 lambda: firefox.marionette.script(OPEN, chrome=True))
    for handle in firefox.marionette.call("WebDriver:GetWindowHandles", {}):
        firefox.marionette.call("WebDriver:SwitchToWindow", {"handle": handle})
        if firefox.marionette.script("return location.href").startswith(app):
            break
    return tabs


def main(rig, web, vapid):
    with tempfile.TemporaryDirectory(prefix="nudge-firefox-") as name:
        folder = pathlib.Path(name)
        compose(pathlib.Path(rig), pathlib.Path(web), folder)
        sys.path.insert(0, str(folder))
        from browser import Browser
        port = free_port()
        service = subprocess.Popen(
            [sys.executable, str(folder / "push_server.py"), "--port", str(port)], stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL)
        try:
            service.stdout.readline()
            with Browser(f"http://localhost:{port}", prefs=STILL) as firefox:
                subscription = firefox.subscribe("ada", vapid)
                print(json.dumps(subscription), flush=True)
                for line in sys.stdin:
                    words = line.split()
                    if words[:1] == ["shown"]:
                        answer = until(lambda found: len(found) == int(words[1]), lambda: asked(firefox, LIST))
                    elif words[:1] == ["click"]:
                        answer = until(bool, lambda: firefox.click(" ".join(words[1:])))
                    elif words == ["leave"]:
                        firefox.marionette.call("WebDriver:Navigate", {"url": "about:blank"})
                        answer = True
                    elif words == ["opened"]:
                        answer = opened(firefox, firefox.server)
                    elif words[:1] == ["told"]:
                        answer = until(
                            lambda told: len(told["messages"]) >= int(words[1]) and len(told["outbox"]) >= int(words[2]),
                            lambda: asked(firefox, TOLD))
                    elif words == ["gone"]:
                        answer = firefox.unsubscribe("ada")["done"]
                    else:
                        raise SystemExit(f"unknown: {line}")
                    print(json.dumps(answer), flush=True)
        finally:
            service.kill()
            service.wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
