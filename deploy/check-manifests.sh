#!/usr/bin/env bash
# Reads the files for containers and Kubernetes as YAML, and holds them against what they have to agree about. The YAML
# reader is the one that comes with Schemathesis.
set -euo pipefail
cd "$(dirname "$0")/.."

"$HOME/.cache/platen/schemathesis/bin/python" - <<'CHECK'
import pathlib, sys, yaml

folder = pathlib.Path("deploy/kubernetes")
faults = []


def documents(path):
    try:
        return [document for document in yaml.safe_load_all(path.read_text()) if document]
    except yaml.YAMLError as error:
        faults.append(f"{path}: {error}")
        return []


files = sorted(folder.rglob("*.yaml"))
objects = {path: documents(path) for path in [pathlib.Path("deploy/compose.yaml"), *files]}

for path in files:
    for item in objects[path]:
        if path.name != "kustomization.yaml" and not (
            item.get("apiVersion") and item.get("kind") and item.get("metadata", {}).get("name")
        ):
            faults.append(f"{path}: an object without apiVersion, kind or name")

for path in folder.rglob("kustomization.yaml"):
    listed = set(objects[path][0]["resources"]) if objects[path] else set()
    present = {other.name for other in path.parent.glob("*.yaml")} - {path.name}
    for name in listed ^ present:
        faults.append(f"{path}: {name} is listed but missing, or present but not listed")

kinds = [item for path in files for item in objects[path]]
settings = next((item["data"] for item in kinds if item.get("kind") == "ConfigMap"), {})
for item in kinds:
    pod = item.get("spec", {}).get("template", {}).get("spec", {}) if item.get("kind") == "Deployment" else None
    if not pod:
        continue
    name, container = item["metadata"]["name"], pod["containers"][0]
    pause = int(container["lifecycle"]["preStop"]["exec"]["command"][1])
    # Two seconds for the last answers, as boot.rs has it.
    needed = pause + int(settings["PLATEN_SHUTDOWN_GRACE"]) + 2
    if pod["terminationGracePeriodSeconds"] <= needed:
        faults.append(f"{name}: terminationGracePeriodSeconds has to be more than {needed}")
    if pod["securityContext"]["seccompProfile"].get("type") != "Localhost":
        faults.append(f"{name}: without its seccomp profile Chromium has no sandbox")
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    for port, setting in {"http": "PLATEN_LISTEN", "metrics": "PLATEN_METRICS_LISTEN"}.items():
        if not settings[setting].endswith(f":{ports[port]}"):
            faults.append(f"{name}: port {port} is not that of {setting}")

for fault in faults:
    print(fault, file=sys.stderr)
sys.exit(bool(faults))
CHECK
