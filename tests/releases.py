"""What a Kubernetes release brought: the rows for the tables of src/podless/apis, from two servers.

`python -m tests.releases dump FOLDER --server URL` keeps what a server publishes: its version, discovery documents and
/openapi/v3. `python -m tests.releases compare OLD NEW` prints the rows. With --write it sets since and until in the
files of fields that have the row.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from podless.apis.features import RECORDED
from podless.structs.structfiles import FOLDER, folder_of
from tests.conformance.__main__ import add_server, make_remote

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
# schemas whose type has a short name in files of fields
_SHORT = {
    "v1.Time": "time",
    "v1.MicroTime": "microtime",
    "resource.Quantity": "quantity",
    "intstr.IntOrString": "intorstring",
    "runtime.RawExtension": "raw",
}
_PLAIN = {"string": "string", "boolean": "bool", "number": "float64", "integer": "int64", "object": "json"}
_FORMATS = {"int32": "int32", "int64": "int64", "byte": "bytes", "date-time": "time"}

Structs = Mapping[tuple[str, str], Mapping[str, Any]]
Resources = Mapping[tuple[str, str, str], str]


class Change(NamedTuple):
    """A row for a table. place: the file, below apis. about: the struct or resource. row: as it is to be.

    name: of the field, "" where the row is for a kind. option: such as since=1.N.
    """

    place: str
    about: str
    row: str
    name: str = ""
    option: str = ""

    def __str__(self) -> str:
        return f"{self.place}: {self.about}: {self.row}"


def dump(folder: Path, get: Callable[[str, str], Any]) -> None:
    """Keep what a server publishes in a folder. get: asks for a path and a media type, and returns the JSON."""
    documents = {"version": get("/version", "application/json")}
    documents["discovery"] = [item for path in ("/api", "/apis") for item in get(path, AGGREGATED)["items"]]
    for path, told in get("/openapi/v3", "application/json")["paths"].items():
        if path.count("/") == 2 or path == "api/v1":  # a group-version
            documents[f"openapi-{path.replace('/', '-')}"] = get(told["serverRelativeURL"], "application/json")
    folder.mkdir(parents=True, exist_ok=True)
    for name, document in documents.items():
        (folder / f"{name}.json").write_text(json.dumps(document))


def read_release(folder: Path) -> str:
    """Return the release of a dump."""
    told = json.loads((folder / "version.json").read_text())
    return f"{told['major']}.{told['minor'].rstrip('+')}"


def read_structs(folder: Path) -> Structs:
    """Return the fields of all structs in a dump, by group-version and name."""
    found: dict[tuple[str, str], Mapping[str, Any]] = {}
    for file in sorted(folder.glob("openapi-*.json")):
        for name, schema in json.loads(file.read_text()).get("components", {}).get("schemas", {}).items():
            parts = name.split(".")
            if name.startswith("io.k8s.") and "properties" in schema:
                found["/".join(parts[-3:-1]), parts[-1]] = schema["properties"]
    return found


def read_resources(folder: Path) -> Resources:
    """Return the kinds of all resources and subresources in a dump, by group, version and name."""
    found: dict[tuple[str, str, str], str] = {}
    for group in json.loads((folder / "discovery.json").read_text()):
        for version in group["versions"]:
            place = group["metadata"].get("name", ""), version["version"]
            for resource in version.get("resources", []):
                kind = resource.get("responseKind", {}).get("kind", "")
                found[*place, resource["resource"]] = kind
                found |= {
                    (*place, f"{resource['resource']}/{sub['subresource']}"): kind
                    for sub in resource.get("subresources", [])
                }
    return found


def compare(old: Path, new: Path) -> Iterator[Change]:
    """Return the rows for what the release of one dump has and that of another has not."""
    before, after = read_release(old), read_release(new)
    recorded = int(after.partition(".")[2]) <= RECORDED
    came, went = (f"since={after}", f"until={before}") if recorded else (f"ahead={after}", f"before={after}")
    yield from _compare_resources(read_resources(old), f"-{before}", read_resources(new), f"{after}-")
    structs = read_structs(old), read_structs(new)
    served = {home for home, _ in structs[0]} & {home for home, _ in structs[1]}
    for key in sorted({*structs[0], *structs[1]}):
        if key[0] in served:
            was, now = (each.get(key) for each in structs)
            if was is None:
                yield from _new_struct(*key, now or {})
            if was is None or now is None:  # the fields that are of its type say when it came and went
                continue
            for name in sorted(now.keys() - was.keys()):
                yield _field(*key, name, now[name], came)
            for name in sorted(was.keys() - now.keys()):
                yield _field(*key, name, was[name], went)


def _compare_resources(old: Resources, before: str, new: Resources, after: str) -> Iterator[Change]:
    for found, other, span in ((new, old, after), (old, new, before)):
        for group, version, name in sorted(found.keys() - other.keys()):
            about = f"{version} {name} ({found[group, version, name]})"
            alone = any((group, each, name) in other for _, each, named in found if named == name)  # of its versions
            said = f'{{"{version}": "{span}"}}' if alone else f'"{span}"'
            yield Change(f"{folder_of(group)}/group.py", about, f"releases={said}")


def _new_struct(home: str, struct: str, fields: Mapping[str, Any]) -> Iterator[Change]:
    """The rows that the file has not; lists of objects have none."""
    for name, schema in () if struct.endswith("List") else fields.items():
        known = _find_row(FOLDER / f"{home}.fields", struct, name)
        if not known and (name, schema.get("type")) not in (("apiVersion", "string"), ("kind", "string")):
            yield Change(f"{home}.fields", struct, f"?  {name}  {_type(home, schema)}")


def _field(home: str, struct: str, name: str, schema: Any, option: str) -> Change:
    """The row of a field: the one that is there, with the option, or a new one whose number is to be filled in."""
    place, known = f"{home}.fields", _find_row(FOLDER / f"{home}.fields", struct, name)
    row = known and _with_option(known, option).partition(" # ")[0].strip()
    return Change(place, struct, row or f"?  {name}  {_type(home, schema)} {option}", name, option)


def _find_row(file: Path, struct: str, name: str) -> str:
    """Return the line of a field, "" for none."""
    for block in file.read_text().split("\n\n") if file.exists() else ():
        lines = block.split("\n")
        if any(line.split()[1:2] == [struct] for line in lines if line.startswith(("struct ", "kind "))):
            return next((line for line in lines if re.match(rf"\s+\d+\s+{re.escape(name)}\s", line)), "")
    return ""


def _with_option(row: str, option: str) -> str:
    """Return a row with an option; one that says so already stays."""
    head, mark, text = row.partition(" # ")
    if option.partition("=")[0] + "=" in head:
        return row
    return f"{head.rstrip()} {option}{' ' * bool(mark)}{mark}{text}"


def _type(home: str, schema: Any) -> str:
    """Return the type of a schema as files of fields name it."""
    schema = {**(schema.get("allOf") or [{}])[0], **schema}
    if "$ref" in schema:
        parts = schema["$ref"].rpartition("/")[2].split(".")
        place, short = "/".join(parts[-3:-1]), _SHORT.get(".".join(parts[-2:]))
        return short or (parts[-1] if place == home else f"{place}.{parts[-1]}")
    if schema.get("type") == "array":
        return f"[]{_type(home, schema['items'])}"
    if isinstance(inner := schema.get("additionalProperties"), dict):
        return f"map[string]{_type(home, inner)}"
    return _FORMATS.get(schema.get("format", "")) or _PLAIN.get(schema.get("type", ""), "json")


def write(changes: list[Change], folder: Path = FOLDER) -> int:
    """Set since and until in the rows that are there; returns in how many."""
    written = 0
    for change in changes:
        file = folder / change.place
        row = _find_row(file, change.about, change.name) if change.name else ""
        if row and (made := _with_option(row, change.option)) != row:
            text = file.read_text()
            start = text.index(row, re.search(rf"^(struct|kind) {change.about}\b", text, re.M).start())  # type: ignore[union-attr]
            file.write_text(text[:start] + made + text[start + len(row) :])
            written += 1
    return written


def main(arguments: list[str]) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.releases", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    keep = commands.add_parser("dump", help="keep what a server publishes")
    keep.add_argument("folder", type=Path)
    add_server(keep, "to ask")
    both = commands.add_parser("compare", help="print the rows for what one release has and the other has not")
    both.add_argument("old", type=Path)
    both.add_argument("new", type=Path)
    both.add_argument("--write", action="store_true", help="set since and until in rows that are there")
    options = parser.parse_args(arguments)
    if options.command == "dump":
        client = make_remote(options).client()
        dump(options.folder, lambda path, media: json.loads(client.send("GET", path, headers={"Accept": media})[2]))
        return 0
    changes = [*compare(options.old, options.new)]
    print("\n".join(map(str, changes)))
    if options.write:
        print(f"{write(changes)} rows written", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
