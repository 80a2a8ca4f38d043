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
from typing import Any
from urllib.parse import quote

from podless.check.findings import Finding, PositionFinder, Report, Severity
from podless.check.sources import CannotCheck, SourceFile, find_sources
from podless.codec import serializer
from podless.codec.documents import Document, split_documents
from podless.codec.jsontext import JSONError
from podless.codec.positions import Position
from podless.fields import patches
from podless.meta import field
from podless.remote.cluster import Refused, RemoteCluster
from podless.remote.kubeconfig import ClusterAccess
from podless.remote.resources import APIResource, parse_resources, version_path
from podless.runtime.files import read_path
from podless.runtime.jsonobject import Object
from podless.schema import Schema

_PATCH_MEDIA = {one.name: one.media for one in patches.TYPES if one.read is not None}
SUITE: Object = serializer.decode_json(Path(__file__).with_name("suite.json").read_bytes())
SUITE["properties"]["tests"]["items"]["properties"]["patchType"]["enum"] = [*_PATCH_MEDIA]
_GRANT = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"


def run_suites(source_files: Sequence[SourceFile], settings: Mapping[str, Any] | None = None) -> Report:
    """Run suites. A statement that does not hold is an error at its line. Raises CannotCheck.

    settings: of the server, as in podless.app.Settings.
    """
    report = Report(files=len(source_files))
    for source in source_files:
        for document in split_documents(source.name, source.read()):
            suite = _Suite(source, document)
            report.findings += suite.list_faults() or asyncio.run(suite.run_suite(settings or {}))
            report.objects += len(suite.tests)
    return report


class _StatementFailed(Exception):
    """A statement does not hold. The text describes the server's answer."""


class _Suite:
    def __init__(self, source: SourceFile, document: Document) -> None:
        self.places = PositionFinder(document)
        self.file = source.name
        self.folder = Path(source.name).parent
        try:
            self.value = document.decode_value()
        except JSONError as error:
            raise CannotCheck(f"{source.name}: {error.message}") from None
        if not isinstance(self.value, dict):
            raise CannotCheck(f"{source.name}: not a suite: expected an object with tests")
        self.unknown: list[str] = []
        compiled = Schema.compile(SUITE)
        compiled.normalize(self.value, unknown=self.unknown)
        self.errors = compiled.validate(self.value)
        self.tests: list[Object] = [] if self.errors else self.value.get("tests") or []

    def list_faults(self) -> list[Finding]:
        """Return the errors in the suite itself."""
        find = self.places
        faults = [self._make_finding(find.find_value(error.path), error.body, error.field) for error in self.errors]
        faults += [self._make_finding(find.find_key(name), f'unknown field "{name}"') for name in self.unknown]
        for index, test in enumerate(self.tests):
            if not any(name in test for name in ("object", "file", "patch")):
                position = find.find_key(("tests", index))
                faults.append(
                    self._make_finding(position, "a test has an object, a file or a patch", f"tests[{index}]")
                )
        return faults

    def _make_finding(
        self, position: Position, message: str, path: str = "", rule: str = "Suite", about: str = ""
    ) -> Finding:
        return Finding(self.file, *position, Severity.ERROR, path, message, rule, about)

    async def run_suite(self, settings: Mapping[str, Any]) -> list[Finding]:
        """Return an error for each statement that does not hold."""
        failures = []
        async with _run_server(settings) as cluster:
            await self._create_resources(cluster)
            for index, test in enumerate(self.tests):
                try:
                    await _Test(cluster, test, self._read_object).run_test()
                except _StatementFailed as failed:
                    position = self.places.find_value(("tests", index, "name"))
                    failures.append(self._make_finding(position, str(failed), rule="Test", about=test["name"]))
        return failures

    async def _create_resources(self, cluster: _TestServer) -> None:
        """Create the resources of the suite. Raises CannotCheck."""
        objects = [value for path in self.value.get("resources") or () for value in self._read_objects(path)]
        if "webhooks" in self.value:
            webhooks = self.value["webhooks"]
            bundle = read_path(self.folder / webhooks["caFile"]) if "caFile" in webhooks else b""
            for value in objects:
                _redirect_webhooks(value, webhooks["url"].rstrip("/"), base64.b64encode(bundle).decode())
        objects.sort(
            key=lambda value: (value.get("kind") != "CustomResourceDefinition", value.get("kind") != "Namespace")
        )
        for value in objects:
            try:
                await cluster.create(value, "default")
            except Refused as refused:
                raise CannotCheck(f"{self.file}: {value.get('kind')}: {refused}") from None
        users = sorted({test["user"] for test in self.tests if test.get("user")})
        if users:
            await cluster.grant_all(users)

    def _read_objects(self, path: str) -> Iterator[Object]:
        for source in find_sources([str(self.folder / path)]):
            for document in split_documents(source.name, source.read()):
                yield from document.read_objects()

    def _read_object(self, test: Object, name: str, file: str) -> Object | None:
        """Return the object of a test, inline or from a file."""
        if file in test:
            return next(self._read_objects(test[file]), None)
        result: Object | None = test.get(name)
        return result


def _redirect_webhooks(obj: Object, url: str, bundle: str) -> None:
    """Make an object's webhooks call a server in place of their Services. bundle: its CA, as in a caBundle."""
    conversion = (obj.get("spec") or {}).get("conversion") if obj.get("kind") == "CustomResourceDefinition" else None
    for hook in [conversion.get("webhook")] if conversion else obj.get("webhooks") or ():
        service = ((hook or {}).get("clientConfig") or {}).get("service")
        if service is not None:
            path = str(service.get("path") or "").lstrip("/")
            hook["clientConfig"] = {"url": f"{url}/{path}", "caBundle": bundle}


class _Test:
    """One statement. find: returns its object and old object."""

    def __init__(self, cluster: _TestServer, test: Object, find: Any) -> None:
        self.cluster = cluster
        self.test = test
        self.obj: Object | None = find(test, "object", "file")
        self.old: Object | None = find(test, "old", "oldFile")

    async def run_test(self) -> None:
        """Raise _StatementFailed if the statement does not hold."""

        created: Object | None = None
        try:
            if self.old is not None:
                try:
                    created = await self.cluster.create(self.old, self.test["namespace"])
                except Refused as refused:
                    raise _StatementFailed(f"the old object is rejected: {refused}") from None
            try:
                result = await self._write_object(created)
            except Refused as refused:
                self._check_rejection(refused)
                return
            self._check_acceptance(result)
        finally:
            if created is not None:
                await self.cluster.remove(created)

    async def _write_object(self, created: Object | None) -> Object:
        test, cluster = self.test, self.cluster
        headers = [("Impersonate-User", test["user"])] if test.get("user") else []
        headers += [("Impersonate-Group", group) for group in (test.get("groups") or ()) if headers]
        if "patch" in test:
            if created is None:
                raise _StatementFailed("a patch needs an old object")
            path = await cluster.find_path(created, test["namespace"], test.get("subresource"))
            return await cluster.send("PATCH", path, test["patch"], _PATCH_MEDIA[test["patchType"]], headers)
        assert self.obj is not None
        if test.get("convert"):
            return await self._convert_object(self.obj)
        if created is None:
            path = await cluster.find_collection(self.obj, test["namespace"])
            return await cluster.send("POST", path, self.obj, headers=headers)
        path = await cluster.find_path(created, test["namespace"], test.get("subresource"))
        metadata = {**self.obj.get("metadata", {}), "resourceVersion": created["metadata"]["resourceVersion"]}
        return await cluster.send("PUT", path, {**self.obj, "metadata": metadata}, headers=headers)

    async def _convert_object(self, obj: Object) -> Object:
        created = await self.cluster.create(obj, self.test["namespace"])
        try:
            group = obj["apiVersion"].rpartition("/")[0]
            other_version = {**created, "apiVersion": f"{group}/{self.test['convert']}"}
            return await self.cluster.get(await self.cluster.find_path(other_version, self.test["namespace"]))
        finally:
            await self.cluster.remove(created)

    def _check_rejection(self, refused: Any) -> None:
        message = str(refused)
        if self.test["expect"] != "refused":
            raise _StatementFailed(f"rejected: {message}")
        if self.test.get("message", "") not in message:
            raise _StatementFailed(f"rejected with another message: {message}")
        causes = (refused.status.get("details") or {}).get("causes") or []
        path = self.test.get("path")
        if path is not None and path not in [cause.get("field") for cause in causes]:
            fields = ", ".join(cause.get("field", "") for cause in causes) or "none"
            raise _StatementFailed(f"rejected for other fields ({fields}): {message}")

    def _check_acceptance(self, result: Object) -> None:
        if self.test["expect"] != "accepted":
            raise _StatementFailed("accepted")
        for path, expected, actual in _find_differences(self.test.get("result") or {}, result, ()):
            raise _StatementFailed(f"{field.format_path(path)} is {actual!r}, not {expected!r}")


def _find_differences(expected: Any, actual: Any, path: field.Path) -> Iterator[tuple[field.Path, Any, Any]]:
    """Yield the fields that the actual value lacks or has with another value: path, expected, actual."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        for key, value in expected.items():
            yield from _find_differences(value, actual.get(key), (*path, key))
    elif isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        for index, (expected_item, actual_item) in enumerate(zip(expected, actual, strict=True)):
            yield from _find_differences(expected_item, actual_item, (*path, index))
    elif expected != actual:
        yield path, expected, actual


class _TestServer:
    """A server, as the tests use it."""

    def __init__(self, cluster: RemoteCluster) -> None:
        self._cluster = cluster
        self._resources: dict[tuple[str, str], APIResource] = {}  # by apiVersion and kind

    async def find_collection(self, obj: Object, namespace: str) -> str:
        """Return the URL path of an object's collection. Raises _StatementFailed if its kind is not served."""
        resource = await self._find_resource(obj)
        return resource.path((obj.get("metadata") or {}).get("namespace") or namespace)

    async def find_path(self, obj: Object, namespace: str, subresource: str | None = None) -> str:
        """Return the URL path of an object. Raises _StatementFailed if its kind is not served."""
        path = f"{await self.find_collection(obj, namespace)}/{quote(obj['metadata']['name'])}"
        return f"{path}/{subresource}" if subresource else path

    async def _find_resource(self, obj: Object) -> APIResource:
        api_version, kind = key = str(obj.get("apiVersion") or ""), str(obj.get("kind") or "")
        if key not in self._resources:
            try:
                document = await self._cluster.send("GET", version_path(api_version))
            except Refused:
                document = {}
            self._resources |= {(api_version, item.kind): item for item in parse_resources(api_version, document)}
        if key not in self._resources:
            raise _StatementFailed(f'no matches for kind "{kind}" in version "{api_version}"')
        return self._resources[key]

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
        """Create an object. Raises Refused, or _StatementFailed."""
        try:
            path = await self.find_collection(obj, namespace)
        except _StatementFailed as failed:
            raise CannotCheck(str(failed)) from None
        return await self._cluster.send("POST", f"{path}?fieldValidation=Strict", obj)

    async def remove(self, obj: Object) -> None:
        """Delete an object, and remove its finalizers."""
        path = await self.find_path(obj, "")
        if (obj["metadata"]).get("finalizers"):
            await self._cluster.send("PATCH", path, {"metadata": {"finalizers": None}}, _PATCH_MEDIA["merge"])
        await self._cluster.send("DELETE", f"{path}?gracePeriodSeconds=0")

    async def grant_all(self, users: Sequence[str]) -> None:
        """Grant users all permissions, because suites test policies and not roles."""
        subjects = [{"kind": "User", "name": user, "apiGroup": "rbac.authorization.k8s.io"} for user in users]
        role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}
        await self._cluster.send(
            "POST", _GRANT, {"metadata": {"name": "podless-test"}, "roleRef": role, "subjects": subjects}
        )


@asynccontextmanager
async def _run_server(settings: Mapping[str, Any]) -> AsyncIterator[_TestServer]:
    """Start a server in memory, and yield a connection with administrator's permissions."""
    from podless.server import Server

    async with Server(**settings) as server:
        context = ssl.create_default_context(cafile=str(server.authority))
        async with RemoteCluster(ClusterAccess(server.url, server.token, context), "podless-test") as cluster:
            yield _TestServer(cluster)
