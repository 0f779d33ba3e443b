"""The pods of a kustomize overlay, by `podman kube play`, beside the broker and the emulator of the compose file."""
import json
import pathlib
import re
import subprocess
import sys

import yaml

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "Tests/Night"))
from deployment import say, wait_for  # noqa: E402

KUBECTL = REPOSITORY / ".build/deploy-tools/bin/kubectl"
STAGES = ["ingest", "analyzer", "dispatcher"]
# podman 4.3 has no StatefulSets, Roles, Services and policies. The first become a pod each, with the claim that its template asks for.
KEPT = {"ConfigMap", "Deployment"}


def render(overlay):
    done = subprocess.run(
        [KUBECTL, "kustomize", REPOSITORY / "Deploy/kubernetes/overlays" / overlay], check=True, capture_output=True, text=True)
    return list(yaml.safe_load_all(done.stdout))


def claim(name, template):
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name}, "spec": template["spec"]}


def pod_of(stateful, ordinal=0):
    """What the controller makes of a StatefulSet: a pod with its name and its own claims."""
    name, spec = f"{stateful['metadata']['name']}-{ordinal}", json.loads(json.dumps(stateful["spec"]["template"]["spec"]))
    claims = [(f"{it['metadata']['name']}-{name}", it) for it in stateful["spec"].get("volumeClaimTemplates", [])]
    spec["volumes"] = spec.get("volumes", []) + [
        {"name": it["metadata"]["name"], "persistentVolumeClaim": {"claimName": own}} for own, it in claims]
    labels = stateful["spec"]["template"]["metadata"]["labels"]
    return [*(claim(own, it) for own, it in claims),
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": labels}, "spec": spec}]


def files(name, values):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": values}


def documents(objects, image, bootstrap, emulator, account, authority, keys):
    """The objects that podman takes, with the settings of this trial where an operator's would be."""
    yield files("nudge-fcm", {"service-account.json": account, "ca.pem": authority})
    yield files("nudge-http", {"api-keys": keys})
    for it in objects:
        if it["kind"] == "ConfigMap" and "NUDGE_KAFKA_BOOTSTRAP_SERVERS" in it["data"]:
            it["data"].update(NUDGE_KAFKA_BOOTSTRAP_SERVERS=bootstrap, NUDGE_FCM_URL=emulator, NUDGE_FCM_CA_FILE="/etc/nudge/fcm/ca.pem")
        its = pod_of(it) if it["kind"] == "StatefulSet" else [it] if it["kind"] in KEPT else []
        for one in its:
            if "spec" in one:
                suit(one["spec"].get("template", one)["spec"])
            yield json.loads(re.sub(r'registry\.example\.org/nudge[:@][^"]+', image, json.dumps(one)))


def suit(pod):
    """Changes what podman 4.3 does otherwise: it mounts the values of a secret in base64, so they come from a ConfigMap, it crashes where
    one does not say whether it is optional, and it takes each port of a pod as one of this machine."""
    for volume in pod.get("volumes", []):
        if "secret" in volume:
            volume["configMap"] = {"name": volume.pop("secret")["secretName"], "optional": False}
    for container in pod.get("containers", []):
        numbers = {it["name"]: it["containerPort"] for it in container.pop("ports", [])}
        for probe in ("livenessProbe", "readinessProbe"):
            get = container.get(probe, {}).get("httpGet", {})
            if get.get("port") in numbers:
                get["port"] = numbers[get["port"]]


def remove(engine, path):
    """The pods of a file, and what `kube down` of podman 4.3 leaves: the claims."""
    anything = tuple(range(256))
    engine.podman("kube", "down", str(path), allow=anything)
    engine.podman("pod", "rm", "--force", "--ignore", *(f"nudge-{stage}-0" for stage in STAGES), "nudge-http-pod-0", "nudge-http-pod-1",
                  allow=anything)
    engine.podman("volume", "rm", "--force", *(f"state-nudge-{stage}-0" for stage in STAGES), "nudge-fcm", "nudge-http",
                  allow=anything)


def play(composition, network, image, folder):
    """Stops the compose file's services, plays the pods in their place, and sends messages through them."""
    engine = composition.engine
    if not KUBECTL.exists():
        say("kube play: skipped: kubectl is missing; run: make check-deploy")
        return
    emulator = composition.containers("fcm-emulator")[0]

    def file(place):
        return engine.podman("exec", emulator, "cat", f"/var/lib/fcm-emulator/{place}")

    keys = engine.podman("exec", composition.containers("http")[0], "cat", "/etc/nudge/http/api-keys")
    for service in [*STAGES, "http"]:
        engine.podman("stop", *composition.containers(service))
    for overlay in ["small", "production"]:
        objects = render(overlay)
        left_out = sorted({it["kind"] for it in objects} - KEPT - {"StatefulSet"})
        path = folder / f"{overlay}.yaml"
        path.write_text(yaml.safe_dump_all(documents(
            objects, image, "kafka:19092", "https://10.89.77.10:8443", file("service-account.json"), file("ca.pem"), keys + "\n")))
        remove(engine, path)
        try:
            engine.podman("kube", "play", "--network", network, str(path))
            pods = [f"nudge-{stage}-0" for stage in STAGES]
            for pod in pods:
                wait_for(f"{pod} to be ready: {engine.run(['podman', 'logs', '--tail', '5', f'{pod}-nudge'], allow=(0, 125)).stderr}",
                         lambda: engine.run(["podman", "exec", f"{pod}-nudge", "curl", "-fsS", "localhost:8080/readyz"],
                                            allow=(0, 1, 7, 22, 125, 126, 255)).returncode == 0, at_most=90, every=0.5)
            say(f"kube play, {overlay}: {', '.join(pods)} are ready (left out: {', '.join(left_out)}); "
                f"{composition.expect(composition.send(by='kafka')):.1f} s")
            for pod in pods:
                composition.kill(f"{pod}-nudge")
                say(f"{pod} killed: {composition.expect(composition.send(by='kafka')):.1f} s")
        finally:
            remove(engine, path)
