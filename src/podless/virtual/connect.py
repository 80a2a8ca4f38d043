"""Subresources that a real server forwards to a node, such as log, exec and port-forward. There are no nodes.

Source: Kubernetes' pkg/registry/core/pod, node and service: requests are validated before they are forwarded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from podless.apis.core.group import ENDPOINTS, NODES, PODS
from podless.cache.watchcache import WatchCache
from podless.codec import gotext, gotime
from podless.kinds import view
from podless.kinds.kind import Kind
from podless.meta import addresses, field
from podless.meta.errors import BadRequest, Internal, Invalid, NotFound, Unavailable
from podless.runtime.jsonobject import Object
from podless.structs import structs
from podless.structs.gotypes import BOOL, STRING, STRINGS, GoType
from podless.verbs import admit, options
from podless.verbs.call import API, Call

_PORT = 10250
_ADDRESSES = ("Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP")
_FIELDS = ("initContainers", "containers", "ephemeralContainers")
_NEGATIVE = "must be greater than or equal to 0"
_MIN = {"tailLines": 0, "limitBytes": 1, "sinceSeconds": 1}
_ONE_SINCE = "at most one of `sinceTime` or `sinceSeconds` may be specified"
_SCHEMES = ("", "http", "https")


def is_forwarded(call: Call) -> bool:
    """Return whether kube-apiserver forwards such a request to a node, or to a pod or service behind it."""
    return (
        call.subresource in (*_ENDPOINTS, *_STREAMS)
        if call.kind == PODS
        else (call.kind.plural, call.subresource) in _PROXIES
    )


async def connect_object(api: API, call: Call, path: str, *, upgrade: bool) -> None:
    """Answer a request that needs a node: return normally (empty log) for the log of a pod without a node, else raise.

    path: the rest of the path after the subresource. upgrade: the client wants another protocol. Raises errors of
    admission, BadRequest, Invalid or NotFound for an invalid request, Internal or Unavailable because no node answers.
    """
    subresource = call.kind.find_subresource(call.subresource)
    if subresource is not None and subresource.connects and subresource.kind is not None:
        if (call.query.get("dryRun") or [""])[0]:
            raise BadRequest("dryRun is not supported")
        options = await admit.admit_connect(api, call, _read_options(call, subresource.kind, path))
        if "container" in options:
            call.query = {**call.query, "container": [options["container"]]}
    if call.subresource in _STREAMS:
        await _check_stream(api, call, upgrade=upgrade)
        return
    endpoints = _ENDPOINTS if call.kind == PODS else {"proxy": _PROXIES[call.kind.plural, "proxy"]}
    await endpoints[call.subresource](api, call)


def _read_options(call: Call, kind: Kind, path: str) -> Object:
    """Return the options in the query as an object of their kind. Raises BadRequest."""
    struct = kind.struct_of(kind.versions[0])
    assert struct is not None
    options: Object = {"kind": kind.kind, "apiVersion": kind.api_version(kind.versions[0].name)}
    query = {**call.query, "path": [path] if path else []}
    for field_ in struct.fields:
        if texts := query.get(field_.name):
            options[field_.name] = _READ.get(field_.type, _parse_ports)(texts)
    return structs.decode_struct(struct, options)


def _parse_bool(values: Sequence[str]) -> bool:
    return values[0].lower() not in ("false", "0")


def _first_value(values: Sequence[str]) -> str:
    return values[0]


def _parse_ports(values: Sequence[str]) -> list[int]:
    ports = []
    for text in ",".join(values).split(","):
        number = _parse_whole(text)
        if number is None or not 0 <= number <= 65535:
            problem = "invalid syntax" if number is None else "value out of range"
            raise BadRequest(f"cannot convert to []int32: strconv.ParseUint: parsing {gotext.quote(text)}: {problem}")
        ports.append(number)
    return ports


_READ: Mapping[GoType, Callable[[Sequence[str]], object]] = {BOOL: _parse_bool, STRING: _first_value, STRINGS: list}


async def _check_log(api: API, call: Call) -> None:
    numbers = {name: _read_number(call, name) for name in _MIN}
    errors = list(_log_errors(numbers, _read_since_time(call), "stream" in call.query))
    if errors:
        raise Invalid("PodLogOptions", "", call.name, errors)
    pod = await _find_pod(api, call, call.name)
    container = _choose_container(call, pod)
    if not pod["spec"].get("nodeName"):
        return
    address = _join_address(*await _find_node(api, call, pod["spec"]["nodeName"]))
    path = f"/containerLogs/{call.namespace}/{call.name}/{container}"
    raise Internal(f'Get "https://{address}{path}": {_refused_text(address)}')


def _log_errors(numbers: dict[str, int | None], since: str, stream: bool) -> field.Errors:
    for name in ("tailLines", "limitBytes"):
        if (number := numbers[name]) is not None and number < _MIN[name]:
            yield field.invalid(name, number, "must be greater than 0" if _MIN[name] else _NEGATIVE)
    seconds = numbers["sinceSeconds"]
    if seconds is not None and since:
        yield field.forbidden("", _ONE_SINCE)
    elif seconds is not None and seconds < 1:
        yield field.invalid("sinceSeconds", seconds, "must be greater than 0")
    if stream:
        yield field.forbidden("stream", "may not be specified")


def _read_since_time(call: Call) -> str:
    """Return sinceTime after checking that it is a time, "" if not given. Raises BadRequest."""
    since_time = options.read_text(call, "sinceTime")
    if since_time:
        try:
            gotime.parse_instant(since_time)
        except ValueError as error:
            raise BadRequest(str(error)) from None
    return since_time


def _read_number(call: Call, name: str) -> int | None:
    text = options.read_text(call, name)
    return options.parse_int(text) if text else None


async def _check_stream(api: API, call: Call, *, upgrade: bool) -> None:
    pod = await _find_pod(api, call, call.name)
    if call.subresource != "portforward":
        _choose_container(call, pod)
    if not pod["spec"].get("nodeName"):
        raise BadRequest(f"pod {call.name} does not have a host assigned")
    address = _join_address(*await _find_node(api, call, pod["spec"]["nodeName"]))
    if not upgrade:
        raise BadRequest("Upgrade request required")
    raise Internal(f"error dialing backend: {_refused_text(address)}")


async def _check_proxy(api: API, call: Call) -> None:
    scheme, name, port = _parse_target(call.name, "pod")
    pod = await _find_pod(api, call, name)
    if not port:
        ports = (entry["containerPort"] for item in pod["spec"]["containers"] for entry in item.get("ports") or ())
        port = str(next(ports, 443 if scheme == "https" else 80))
    pod_ip = ((pod.get("status") or {}).get("podIPs") or [{}])[0].get("ip", "")
    if not _is_global(pod_ip):
        raise BadRequest("address not allowed")
    raise _unreachable_error(pod_ip, port)


async def _node_proxy(api: API, call: Call) -> None:
    _, name, port = _parse_target(call.name, "node")
    host, node_port = await _find_node(api, call, name)
    if addresses.parse_address(host) is None:
        raise BadRequest(f"lookup {host}: no such host")
    if not _is_global(host):
        raise BadRequest("address not allowed")
    raise _unreachable_error(host, port or node_port)


async def _service_proxy(api: API, call: Call) -> None:
    _, name, port = _parse_target(call.name, "service")
    number = _parse_whole(port)
    if number is not None:
        entry = (await api.load_collection(call.kind)).get(call.kind.key(call.namespace, name))
        if entry is None:
            raise NotFound(call.kind.plural, "", name)
        port_names = {
            item["port"]: item.get("name", "") for item in reversed(entry.decode()["spec"].get("ports") or ())
        }
        if number not in port_names:
            raise Unavailable(f'no service port {number} found for service "{name}"')
        port = port_names[number]
    ends = (await api.load_collection(ENDPOINTS)).get(ENDPOINTS.key(call.namespace, name))
    if ends is None:
        raise NotFound(call.kind.plural, "", name)
    subsets = ends.decode().get("subsets") or []
    if not subsets:
        raise Unavailable(f'no endpoints available for service "{name}"')
    pods = await api.load_collection(PODS)
    for subset in subsets:
        numbers = [item["port"] for item in subset.get("ports") or () if item.get("name", "") == port]
        for address in subset.get("addresses") or () if numbers else ():
            if _of_pod(pods, call.namespace, address):
                raise _unreachable_error(address["ip"], numbers[0])
    raise Unavailable(f'no endpoints available for service "{call.name}"')


def _parse_whole(text: str) -> int | None:
    try:
        return gotext.parse_int(text)
    except ValueError:
        return None


def _of_pod(pods: WatchCache, namespace: str, address: Object) -> bool:
    """Return whether the targetRef of an address names a pod of this namespace that has this IP."""
    ref = address.get("targetRef") or {}
    entry = pods.get(PODS.key(namespace, ref.get("name", "")))
    if entry is None or ref.get("namespace", "") != namespace:
        return False
    pod_ips = (entry.decode().get("status") or {}).get("podIPs") or ()
    return any(pod_ip.get("ip") == address["ip"] for pod_ip in pod_ips)


def _is_global(text: str) -> bool:
    """Return whether an address is not a loopback, multicast, link-local or unspecified one."""
    address = addresses.parse_address(text)
    return address is not None and not (
        address.is_loopback or address.is_multicast or address.is_link_local or address.is_unspecified
    )


def _unreachable_error(host: str, port: object) -> Unavailable:
    return Unavailable(f"error trying to reach service: {_refused_text(_join_address(host, port))}")


def _join_address(host: str, port: object) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _parse_target(text: str, kind: str) -> tuple[str, str, str]:
    """Parse "name", "name:port" or "scheme:name:port" into (scheme, name, port). Raises BadRequest."""
    segments = text.split(":")
    if len(segments) == 1:
        segments = [text, ""]
    scheme, name, port = segments if len(segments) == 3 else ["", *segments][:3]
    if len(segments) > 3 or not name or scheme not in _SCHEMES:
        raise BadRequest(f'invalid {kind} request "{text}"')
    return scheme, name, port


async def _find_pod(api: API, call: Call, name: str) -> Object:
    entry = (await api.load_collection(PODS)).get(PODS.key(call.namespace, name))
    if entry is None:
        raise NotFound(PODS.plural, "", name)
    return view.load_object(PODS, call.version, entry)


async def _find_node(api: API, call: Call, name: str) -> tuple[str, int]:
    """Return the host and kubelet port of a node.

    Raises NotFound, which names the resource of the request as in kube-apiserver, or Internal for a node without an
    address.
    """
    entry = (await api.load_collection(NODES)).get(NODES.key("", name))
    if entry is None:
        raise NotFound(call.kind.plural, "", name)
    status = entry.decode().get("status") or {}
    addresses = {address.get("type"): address.get("address", "") for address in reversed(status.get("addresses") or ())}
    host = next((addresses[kind] for kind in _ADDRESSES if addresses.get(kind)), "")
    if not host:
        raise Internal("no preferred addresses found; known addresses: []")
    return host, ((status.get("daemonEndpoints") or {}).get("kubeletEndpoint") or {}).get("Port") or _PORT


def _refused_text(address: str) -> str:
    return f"dial tcp {address}: connect: connection refused"


def _choose_container(call: Call, pod: Object) -> str:
    """Return the name of the container. Raises BadRequest."""
    container, spec = options.read_text(call, "container"), pod["spec"]
    names: list[str] = [container_["name"] for field_name in _FIELDS for container_ in spec.get(field_name) or ()]
    if not container:
        if len(spec["containers"]) == 1:
            return str(spec["containers"][0]["name"])
        must = f"a container name must be specified for pod {call.name}"
        raise BadRequest(f"{must}, choose one of: [{' '.join(names)}]" if spec["containers"] else must)
    if container not in names:
        raise BadRequest(f"container {container} is not valid for pod {call.name}")
    return container


_PROXIES = {("nodes", "proxy"): _node_proxy, ("services", "proxy"): _service_proxy}
_ENDPOINTS = {"log": _check_log, "proxy": _check_proxy}
_STREAMS = ("attach", "exec", "portforward")
