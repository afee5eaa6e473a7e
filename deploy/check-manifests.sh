#!/usr/bin/env bash
# Validates the manifests for Kubernetes against its schemas, and checks that they and the files for containers are consistent
# with each other and with the service. The validator and the YAML parser are installed with Schemathesis. The validator contains
# the schemas; kubeconform would have to fetch them, in a form that no package has.
set -euo pipefail
cd "$(dirname "$0")/.."
tools=$HOME/.cache/platen/schemathesis/bin

# The oldest release that is meant to work, and the newest one known. Kustomize and KEDA have schemas of their own.
for release in 1.29 1.37; do
  find deploy/kubernetes -name '*.yaml' ! -name kustomization.yaml ! -name worker-scaling.yaml -print0 |
    xargs -0 "$tools/kubernetes-validate" --strict --quiet --kubernetes-version "$release"
done

"$tools/python" - <<'CHECK'
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
            faults.append(f"{path}: an object has no apiVersion, kind or name")

for path in folder.rglob("kustomization.yaml"):
    listed = set(objects[path][0]["resources"]) if objects[path] else set()
    present = {other.name for other in path.parent.glob("*.yaml")} - {path.name}
    for name in listed ^ present:
        faults.append(f"{path}: {name} is listed but doesn't exist, or exists but isn't listed")

kinds = [item for path in files for item in objects[path]]
settings = next((item["data"] for item in kinds if item.get("kind") == "ConfigMap"), {})

sources = [path.read_text() for path in pathlib.Path("server").glob("*/src/**/*.rs")]
for setting in settings:
    if not any(f'"{setting}"' in source for source in sources):
        faults.append(f"{folder}/settings.yaml: {setting} is no setting of the service")

for item in kinds:
    pod = item.get("spec", {}).get("template", {}).get("spec", {}) if item.get("kind") == "Deployment" else None
    if not pod:
        continue
    name, container = item["metadata"]["name"], pod["containers"][0]
    pause = int(container["lifecycle"]["preStop"]["exec"]["command"][1])
    # Two seconds for the last responses, as in boot.rs.
    needed = pause + int(settings["PLATEN_SHUTDOWN_GRACE"]) + 2
    if pod["terminationGracePeriodSeconds"] <= needed:
        faults.append(f"{name}: terminationGracePeriodSeconds must be more than {needed}")
    if pod["securityContext"]["seccompProfile"].get("type") != "Localhost":
        faults.append(f"{name}: without its seccomp profile Chromium has no sandbox")
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    for port, setting in {"http": "PLATEN_LISTEN", "metrics": "PLATEN_METRICS_LISTEN"}.items():
        if not settings[setting].endswith(f":{ports[port]}"):
            faults.append(f"{name}: port {port} differs from {setting}")

for fault in faults:
    print(fault, file=sys.stderr)
sys.exit(bool(faults))
CHECK
