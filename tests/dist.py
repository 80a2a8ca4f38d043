"""Build the sdist and the wheel, install the wheel into a fresh virtual environment, and run the first commands there.

`python -m tests.dist` needs hatchling. Nothing of the checkout is on the path of what it runs.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import shutil
import signal
import ssl
import subprocess
import sys
import tarfile
import tempfile
import urllib.request
import venv
import zipfile
from pathlib import Path

import yaml

from tests.pages.blocks import read_page
from tests.pages.sessions import Reader

ROOT = Path(__file__).parent.parent
# pages whose commands are typed, and the programs that they need beside podless
PAGES = {
    "README.md": ("kubectl",),
    "docs/tutorials/check-manifests.md": (),
    "docs/tutorials/control-plane.md": ("kubectl", "etcd"),
}
EXAMPLES = ("crontab-crd.yaml", "crontab.yaml")
PATIENCE = 120  # seconds for a command


def main() -> None:
    """Build, compare, install and try."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="keep the packages in this folder")
    out = parser.parse_args().out
    with tempfile.TemporaryDirectory(prefix="podless-dist-") as name:
        folder = Path(name)
        wheel = build_packages((out or folder / "dist").resolve(), folder)
        binary = install_wheel(wheel, folder / "venv")
        run_first_commands(binary, folder)
        follow_pages(binary, folder)
    print(f"passed: {wheel.name}")


def build_packages(out: Path, folder: Path) -> Path:
    """Build the sdist from the checkout and the wheel from the sdist, as a package index would get them."""
    build = [sys.executable, "-m", "hatchling", "build", "--directory", str(out)]
    subprocess.run([*build, "--target", "sdist"], cwd=ROOT, check=True, timeout=PATIENCE)
    (sdist,) = out.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    subprocess.run(
        [*build, "--target", "wheel"], cwd=folder / sdist.name[: -len(".tar.gz")], check=True, timeout=PATIENCE
    )
    (wheel,) = out.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        there = {one for one in packed.namelist() if one.startswith("podless/")}
    source = ROOT / "src"
    files = [one for one in (source / "podless").rglob("*") if one.is_file() and "__pycache__" not in one.parts]
    lacking = {file.relative_to(source).as_posix() for file in files} - there
    assert not lacking, f"not in the wheel: {sorted(lacking)}"
    return wheel


def install_wheel(wheel: Path, folder: Path) -> Path:
    """Install the wheel in the locked versions; returns the command."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    pip = [str(python), "-m", "pip", "--quiet", "--disable-pip-version-check", "install", "--no-compile"]
    subprocess.run([*pip, "--require-hashes", "-r", str(ROOT / "requirements.lock")], check=True, timeout=10 * PATIENCE)
    subprocess.run([*pip, "--no-deps", str(wheel)], check=True, timeout=PATIENCE)
    subprocess.run([str(python), "-m", "pip", "check"], check=True, timeout=PATIENCE)
    return folder / "bin" / "podless"


def run_first_commands(binary: Path, folder: Path) -> None:
    """Run what a new user runs first, in a folder that has nothing but two manifests."""
    work = folder / "work"
    work.mkdir()
    for name in EXAMPLES:
        (work / name).write_text((ROOT / "docs" / "examples" / name).read_text())
    environment = {name: text for name, text in os.environ.items() if not name.startswith(("PYTHON", "PODLESS"))}

    def run(*arguments: str) -> str:
        command = [str(binary), *arguments]
        done = subprocess.run(
            command, cwd=work, env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE
        )
        assert done.returncode == 0, f"{arguments} ended with {done.returncode}: {done.stdout}{done.stderr}"
        return done.stdout

    assert run("--version").startswith("podless ")
    assert "0 errors" in run("check", *EXAMPLES)
    assert "true" in run("eval", "self.spec.image != ''", "--object", EXAMPLES[1], "--schema", EXAMPLES[0])
    assert "properties" in run("schema", EXAMPLES[0])
    assert "CustomResourceDefinition" in run("convert", EXAMPLES[0])
    shown = run("run", "--apply", EXAMPLES[0], "--", sys.executable, "-c", "import os; print(os.environ['KUBECONFIG'])")
    assert "kubeconfig" in shown
    serve_objects(binary, work, environment)


def follow_pages(binary: Path, folder: Path) -> None:
    """Type the commands of the README and of tutorials, with what was installed."""
    for page, programs in PAGES.items():
        missing = [name for name in programs if shutil.which(name) is None]
        if missing:
            print(f"left out: {page}, which needs {', '.join(missing)}")
            continue
        place = folder / Path(page).stem
        place.mkdir()
        Reader(read_page(ROOT / page), place, binary).follow()


def serve_objects(binary: Path, work: Path, environment: dict[str, str]) -> None:
    """Start a server on a free port, import the manifests, read one back, and stop it."""
    command = [str(binary), "serve", "--data", "data", "--port", "0"]
    server = subprocess.Popen(command, cwd=work, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        first = server.stdout.readline()
        assert "serves https://" in first, first
        kubeconfig = work / "data" / "kubeconfig"
        for manifest in EXAMPLES:
            subprocess.run(
                [str(binary), "import", manifest, "--kubeconfig", str(kubeconfig)],
                cwd=work,
                env=environment,
                check=True,
                timeout=PATIENCE,
            )
        config = yaml.safe_load(kubeconfig.read_text())
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
        context = ssl.create_default_context(cadata=authority)
        path = "/apis/stable.example.com/v1/crontabs"
        request = urllib.request.Request(cluster["server"] + path, headers={"Authorization": f"Bearer {user['token']}"})
        with urllib.request.urlopen(request, context=context, timeout=PATIENCE) as answer:
            assert len(json.load(answer)["items"]) == 1
    finally:
        server.send_signal(signal.SIGTERM)
        assert server.wait(PATIENCE) == 0


if __name__ == "__main__":
    main()
