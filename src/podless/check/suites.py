"""Suites: files that state what an API must accept and reject, run on a server in memory.

A suite uses a complete server, so every stage of a write counts: schemas and rules, conversion,
ValidatingAdmissionPolicies and MutatingAdmissionPolicies.
"""

from __future__ import annotations

import asyncio
import base64
import ssl
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from podless.check.findings import Finding, Report, Severity
from podless.check.judge import read_document, split_parts
from podless.check.places import Places
from podless.check.sources import CannotCheck, SourceFile, find_sources
from podless.codec.documents import Document, split_documents
from podless.codec.jsontext import JSONError
from podless.fields import patches
from podless.meta import field
from podless.runtime.files import describe_fault
from podless.runtime.jsonobject import Object
from podless.schema import Schema
from podless.version import __version__

if TYPE_CHECKING:
    from podless.remote.cluster import RemoteCluster


_PATCHES = {one.name: one.media for one in patches.TYPES if one.read is not None}
_TEXT: Object = {"type": "string"}
_TEXTS: Object = {"type": "array", "items": _TEXT}
_OPEN = "x-kubernetes-preserve-unknown-fields"
_ANY: Object = {"type": "object", _OPEN: True}


def _said(about: str, schema: Object) -> Object:
    return {**schema, "description": about}


_TEST: Object = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": _said("The statement.", {**_TEXT, "minLength": 1}),
        "object": _said("The object that is created, or that replaces the old one.", _ANY),
        "file": _said("The file with the object, relative to the suite.", _TEXT),
        "old": _said("The object that exists before.", _ANY),
        "oldFile": _said("The file with the object that exists before.", _TEXT),
        "patch": _said(
            "The patch of the old object, instead of an object.", {"x-kubernetes-preserve-unknown-fields": True}
        ),
        "patchType": _said("The type of the patch.", {**_TEXT, "enum": [*_PATCHES], "default": "merge"}),
        "subresource": _said("The subresource that is written.", {**_TEXT, "enum": ["status", "scale"]}),
        "convert": _said("The version in which to read the object; result is compared with that.", _TEXT),
        "namespace": _said("The namespace of an object that names none.", {**_TEXT, "default": "default"}),
        "user": _said("The user who writes (default: an administrator).", _TEXT),
        "groups": _said("The groups of the user.", _TEXTS),
        "expect": _said("The expected verdict.", {**_TEXT, "enum": ["accepted", "refused"], "default": "accepted"}),
        "message": _said("A part of the expected error message.", _TEXT),
        "path": _said("A field that the error must name.", _TEXT),
        "result": _said("Fields that the object must have at the end. It may have others.", _ANY),
    },
}
SUITE: Object = {
    "type": "object",
    "required": ["tests"],
    "properties": {
        "resources": _said(
            "Files and folders with definitions, policies and other objects that exist before the tests.", _TEXTS
        ),
        "webhooks": _said(
            "The program behind the webhooks of the resources that name a service.",
            {
                "type": "object",
                "required": ["url"],
                "properties": {
                    "url": _said("Its address, such as https://127.0.0.1:9443.", {**_TEXT, "pattern": "^https://"}),
                    "caFile": _said("PEM file with the CA of its certificate, relative to the suite.", _TEXT),
                },
            },
        ),
        "tests": {"type": "array", "items": _TEST},
    },
}
_GRANT = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
_FIRST = ("CustomResourceDefinition", "Namespace")


def run_suites(source_files: Sequence[SourceFile], settings: Mapping[str, Any] | None = None) -> Report:
    """Run suites. A statement that does not hold is an error at its line. Raises CannotCheck.

    settings: of the server, as in podless.app.Settings.
    """
    report = Report(files=len(source_files))
    for source in source_files:
        for document in split_documents(source.name, source.read()):
            suite = _Suite(source, document)
            report.findings += suite.faults() or asyncio.run(suite.run_suite(settings or {}))
            report.objects += len(suite.tests)
    return report


class _Failed(Exception):
    """A statement does not hold. The text says what the server did instead."""


class _Suite:
    def __init__(self, source: SourceFile, document: Document) -> None:
        self.places = Places(document)
        self.file = source.name
        self.folder = Path(source.name).parent
        try:
            self.value, _ = read_document(document, [])
        except JSONError as error:
            raise CannotCheck(f"{source.name}: {error.message}") from None
        if not isinstance(self.value, dict):
            raise CannotCheck(f"{source.name}: not a suite: expected an object with tests")
        self.unknown: list[str] = []
        compiled = Schema.compile(SUITE)
        compiled.normalize(self.value, unknown=self.unknown)
        self.errors = compiled.validate(self.value)
        self.tests: list[Object] = [] if self.errors else self.value.get("tests") or []

    def faults(self) -> list[Finding]:
        """Return the errors in the suite itself."""
        result = [
            Finding(self.file, *self.places.value(error.path), Severity.ERROR, error.field, error.body, "Suite")
            for error in self.errors
        ]
        for name in self.unknown:
            where = self.places.key(name)
            result.append(Finding(self.file, *where, Severity.ERROR, "", f'unknown field "{name}"', "Suite"))
        for index, test in enumerate(self.tests):
            if not any(name in test for name in ("object", "file", "patch")):
                where = self.places.key(("tests", index))
                said = "a test has an object, a file or a patch"
                result.append(Finding(self.file, *where, Severity.ERROR, f"tests[{index}]", said, "Suite"))
        return result

    async def run_suite(self, settings: Mapping[str, Any]) -> list[Finding]:
        """Return an error for each statement that does not hold."""
        suites = []
        async with _server(settings) as cluster:
            await self._prepare(cluster)
            for index, test in enumerate(self.tests):
                try:
                    await _Test(cluster, test, self._object).run_test()
                except _Failed as failed:
                    where = self.places.value(("tests", index, "name"))
                    suites.append(Finding(self.file, *where, Severity.ERROR, "", str(failed), "Test", test["name"]))
        return suites

    async def _prepare(self, cluster: _API) -> None:
        """Create the resources of the suite. Raises CannotCheck."""
        from podless.remote.cluster import Refused

        objects = [value for path in self.value.get("resources") or () for value in self._objects(path)]
        if "webhooks" in self.value:
            hooks = self._webhooks()
            for value in objects:
                hooks.redirect(value)
        objects.sort(key=lambda value: _FIRST.index(value["kind"]) if value.get("kind") in _FIRST else len(_FIRST))
        for value in objects:
            try:
                await cluster.create(value, "default")
            except Refused as refused:
                raise CannotCheck(f"{self.file}: {value.get('kind')}: {refused}") from None
        users = sorted({test["user"] for test in self.tests if test.get("user")})
        if users:
            await cluster.grant(users)

    def _webhooks(self) -> _WebhookProgram:
        webhooks = self.value["webhooks"]
        try:
            bundle = (self.folder / webhooks["caFile"]).read_bytes() if "caFile" in webhooks else b""
        except OSError as error:
            raise CannotCheck(describe_fault(error)) from None
        return _WebhookProgram(webhooks["url"].rstrip("/"), base64.b64encode(bundle).decode())

    def _objects(self, path: str) -> Iterator[Object]:
        for source in find_sources([str(self.folder / path)]):
            for document in split_documents(source.name, source.read()):
                try:
                    value, floats = read_document(document, [])
                except JSONError as error:
                    raise CannotCheck(f"{source.name}: {error.message}") from None
                yield from (part.value for part in split_parts(value, floats) if isinstance(part.value, dict))

    def _object(self, test: Object, name: str, file: str) -> Object | None:
        """Return the object of a test, inline or from a file."""
        if file in test:
            return next(self._objects(test[file]), None)
        result: Object | None = test.get(name)
        return result


class _WebhookProgram(NamedTuple):
    """A webhook server that replaces the Services of webhooks. bundle: its CA, as in a caBundle."""

    url: str
    bundle: str

    def redirect(self, obj: Object) -> None:
        """Make an object's webhooks call this server."""
        conversion = (obj.get("spec") or {}).get("conversion") if obj.get("kind") == _FIRST[0] else None
        for hook in [conversion.get("webhook")] if conversion else obj.get("webhooks") or ():
            service = ((hook or {}).get("clientConfig") or {}).get("service")
            if service is not None:
                path = str(service.get("path") or "").lstrip("/")
                hook["clientConfig"] = {"url": f"{self.url}/{path}", "caBundle": self.bundle}


class _Test:
    """One statement. find: returns its object and old object."""

    def __init__(self, cluster: _API, test: Object, find: Any) -> None:
        self.cluster = cluster
        self.test = test
        self.obj: Object | None = find(test, "object", "file")
        self.old: Object | None = find(test, "old", "oldFile")

    async def run_test(self) -> None:
        """Raise _Failed if the statement does not hold."""
        from podless.remote.cluster import Refused

        made: Object | None = None
        try:
            if self.old is not None:
                try:
                    made = await self.cluster.create(self.old, self.test["namespace"])
                except Refused as refused:
                    raise _Failed(f"the old object is rejected: {refused}") from None
            try:
                result = await self._write(made)
            except Refused as refused:
                self._reject(refused)
                return
            self._accepted(result)
        finally:
            if made is not None:
                await self.cluster.remove(made)

    async def _write(self, made: Object | None) -> Object:
        test, cluster = self.test, self.cluster
        who = [("Impersonate-User", test["user"])] if test.get("user") else []
        who += [("Impersonate-Group", group) for group in (test.get("groups") or ()) if who]
        if "patch" in test:
            if made is None:
                raise _Failed("a patch needs an old object")
            place = await cluster.place(made, test["namespace"], test.get("subresource"))
            return await cluster.send("PATCH", place, test["patch"], _PATCHES[test["patchType"]], who)
        assert self.obj is not None
        if test.get("convert"):
            return await self._converted(self.obj)
        if made is None:
            place = (await cluster.place(self.obj, test["namespace"])).rpartition("/")[0]
            return await cluster.send("POST", place, self.obj, headers=who)
        place = await cluster.place(made, test["namespace"], test.get("subresource"))
        metadata = {**self.obj.get("metadata", {}), "resourceVersion": made["metadata"]["resourceVersion"]}
        return await cluster.send("PUT", place, {**self.obj, "metadata": metadata}, headers=who)

    async def _converted(self, obj: Object) -> Object:
        made = await self.cluster.create(obj, self.test["namespace"])
        try:
            group = obj["apiVersion"].rpartition("/")[0]
            other = {**made, "apiVersion": f"{group}/{self.test['convert']}"}
            return await self.cluster.get(await self.cluster.place(other, self.test["namespace"]))
        finally:
            await self.cluster.remove(made)

    def _reject(self, refused: Any) -> None:
        said = str(refused)
        if self.test["expect"] != "refused":
            raise _Failed(f"rejected: {said}")
        if self.test.get("message", "") not in said:
            raise _Failed(f"rejected with another message: {said}")
        causes = (refused.status.get("details") or {}).get("causes") or []
        path = self.test.get("path")
        if path is not None and path not in [cause.get("field") for cause in causes]:
            fields = ", ".join(cause.get("field", "") for cause in causes) or "none"
            raise _Failed(f"rejected for other fields ({fields}): {said}")

    def _accepted(self, result: Object) -> None:
        if self.test["expect"] != "accepted":
            raise _Failed("accepted")
        for path, wanted, found in _missing(self.test.get("result") or {}, result, ()):
            raise _Failed(f"{field.format_path(path)} is {found!r}, not {wanted!r}")


def _missing(wanted: Any, found: Any, path: field.Path) -> Iterator[tuple[field.Path, Any, Any]]:
    """Yield the fields that the found value lacks or has with another value: path, wanted, found."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        for key, value in wanted.items():
            yield from _missing(value, found.get(key), (*path, key))
    elif isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        for index, (one, other) in enumerate(zip(wanted, found, strict=True)):
            yield from _missing(one, other, (*path, index))
    elif wanted != found:
        yield path, wanted, found


class _KindEndpoint(NamedTuple):
    """The endpoint of a kind. base: URL path of its version."""

    base: str
    plural: str
    namespaced: bool


class _API:
    """A server, as the tests use it."""

    def __init__(self, cluster: RemoteCluster) -> None:
        self._cluster = cluster
        self._places: dict[tuple[str, str], _KindEndpoint] = {}

    async def place(self, obj: Object, namespace: str, subresource: str | None = None) -> str:
        """Return the URL path of an object. Raises _Failed if its kind is not served."""
        from podless.remote.cluster import Refused

        api_version, kind = str(obj.get("apiVersion") or ""), str(obj.get("kind") or "")
        known = self._places.get((api_version, kind))
        if known is None:
            base = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
            try:
                listed = (await self._cluster.send("GET", base)).get("resources") or []
            except Refused:
                listed = []
            found = next((one for one in listed if one["kind"] == kind and "/" not in one["name"]), None)
            if found is None:
                raise _Failed(f'no matches for kind "{kind}" in version "{api_version}"')
            known = self._places[api_version, kind] = _KindEndpoint(base, found["name"], found["namespaced"])
        metadata = obj.get("metadata") or {}
        where = f"/namespaces/{quote(metadata.get('namespace') or namespace)}" if known.namespaced else ""
        path = f"{known.base}{where}/{known.plural}/{quote(str(metadata.get('name') or ''))}"
        return f"{path}/{subresource}" if subresource else path

    async def send(
        self,
        method: str,
        path: str,
        body: Any,
        media: str = "application/json",
        headers: Sequence[tuple[str, str]] = (),
    ) -> Object:
        """Send a write with dryRun, and return the result."""
        return await self._cluster.send(method, f"{path}?dryRun=All&fieldValidation=Strict", body, media, headers)

    async def get(self, path: str) -> Object:
        return await self._cluster.send("GET", path)

    async def create(self, obj: Object, namespace: str) -> Object:
        """Create an object. Raises Refused, or _Failed."""
        try:
            path = await self.place(obj, namespace)
        except _Failed as failed:
            raise CannotCheck(str(failed)) from None
        return await self._cluster.send("POST", f"{path.rpartition('/')[0]}?fieldValidation=Strict", obj)

    async def remove(self, obj: Object) -> None:
        """Delete an object, and remove its finalizers."""
        path = await self.place(obj, "")
        if (obj["metadata"]).get("finalizers"):
            await self._cluster.send("PATCH", path, {"metadata": {"finalizers": None}}, _PATCHES["merge"])
        await self._cluster.send("DELETE", f"{path}?gracePeriodSeconds=0")

    async def grant(self, users: Sequence[str]) -> None:
        """Grant users all permissions, because suites test policies and not roles."""
        subjects = [{"kind": "User", "name": user, "apiGroup": "rbac.authorization.k8s.io"} for user in users]
        role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}
        await self._cluster.send(
            "POST", _GRANT, {"metadata": {"name": "podless-test"}, "roleRef": role, "subjects": subjects}
        )


@asynccontextmanager
async def _server(settings: Mapping[str, Any]) -> AsyncIterator[_API]:
    """Start a server in memory, and yield a connection with administrator's permissions."""
    from podless.remote.cluster import RemoteCluster
    from podless.remote.kubeconfig import ClusterAccess
    from podless.server import Server

    async with Server(**settings) as server:
        context = ssl.create_default_context(cafile=str(server.authority))
        async with RemoteCluster(
            ClusterAccess(server.url, server.token, context), f"podless-test/{__version__}"
        ) as cluster:
            yield _API(cluster)
