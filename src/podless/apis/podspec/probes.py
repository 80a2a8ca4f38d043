"""Validates probes and lifecycle hooks of containers. Source: Kubernetes' pkg/apis/core/validation."""

from __future__ import annotations

from podless.apis.shared import checks
from podless.meta import field, names
from podless.runtime.dataclass import dataclass
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.release import has

_SCHEMES = ("HTTP", "HTTPS")
_ORDER = ("exec", "httpGet", "tcpSocket", "grpc", "sleep")
_NUMBERS = ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")
_LATEST = "terminationGracePeriodSeconds"
_SIGNALS = """
ABRT ALRM BUS CHLD CLD CONT FPE HUP ILL INT IO IOT KILL PIPE POLL PROF PWR QUIT SEGV STKFLT STOP SYS TERM TRAP TSTP
TTIN TTOU URG USR1 USR2 VTALRM WINCH XCPU XFSZ RTMIN RTMAX
"""
_REAL_TIME = (*(f"RTMIN+{number}" for number in range(1, 16)), *(f"RTMAX-{number}" for number in range(1, 15)))
_STOP_SIGNALS = {
    "linux": tuple(sorted(f"SIG{name}" for name in (*_SIGNALS.split(), *_REAL_TIME))),
    "windows": ("SIGKILL", "SIGTERM"),
}


@dataclass(frozen=True, slots=True)
class Around:
    """The context for probes and hooks: the pod's grace period and operating system, None if not set."""

    grace: int | None
    system: Object | None


def validate_probes(container: Object, path: str, around: Around) -> field.Errors:
    """Validate the three probes of a container."""
    for name in ("livenessProbe", "readinessProbe", "startupProbe"):
        probe = container.get(name)
        if probe is None:
            continue
        field_path = f"{path}.{name}"
        yield from _validate_probe(probe, field_path, around)
        if name == "readinessProbe":
            if (http_form := probe.get(_LATEST)) is not None:
                yield field.invalid(f"{field_path}.{_LATEST}", http_form, "must not be set for readinessProbes")
        elif probe.get("successThreshold", 0) != 1:
            yield field.invalid(f"{field_path}.successThreshold", probe.get("successThreshold", 0), "must be 1")


def _validate_probe(probe: Object, path: str, around: Around) -> field.Errors:
    yield from _validate_handler(probe, path, around)
    yield from checks.all_nonnegative(probe, path, _NUMBERS)
    grace = probe.get(_LATEST)
    if grace is not None and grace <= 0:
        yield field.invalid(f"{path}.{_LATEST}", grace, "must be greater than 0")


def validate_lifecycle(hooks: Object, path: str, around: Around) -> field.Errors:
    """Validate postStart, preStop and stopSignal of a container."""
    for name in ("postStart", "preStop"):
        if hooks.get(name) is not None:
            yield from _validate_handler(hooks[name], f"{path}.{name}", around)
    signal = hooks.get("stopSignal")
    if signal is None:
        return
    if around.system is None:
        yield field.forbidden(f"{path}.stopSignal", "may not be set for containers with empty `spec.os.name`")
    else:
        allowed = _STOP_SIGNALS.get(around.system.get("name", ""), (signal,))
        yield from field.one_of(f"{path}.stopSignal", signal, allowed)


def _validate_handler(handler: Object, path: str, around: Around) -> field.Errors:
    set_handlers = [name for name in _ORDER if handler.get(name) is not None]
    if not set_handlers:
        yield field.required(path, "must specify a handler type")
        return
    yield from _KINDS[set_handlers[0]](handler[set_handlers[0]], f"{path}.{set_handlers[0]}", around)
    for name in each(set_handlers[1:]):
        yield field.forbidden(f"{path}.{name}", "may not specify more than 1 handler type")


def _validate_exec(action: Object, path: str, around: Around) -> field.Errors:
    return checks.require_fields(action, path, "command")


def _validate_http(action: Object, path: str, around: Around) -> field.Errors:
    yield from checks.require_fields(action, path, "path")
    yield from checks.validate_port(f"{path}.port", action.get("port"))
    yield from field.one_of(f"{path}.scheme", action.get("scheme", ""), _SCHEMES)
    for header in each(action.get("httpHeaders") or ()):
        name = header.get("name", "")
        yield from field.invalid_details(f"{path}.httpHeaders", name, names.check_header_name(name))


def _validate_tcp(action: Object, path: str, around: Around) -> field.Errors:
    return checks.validate_port(f"{path}.port", action.get("port"))


def _validate_grpc(action: Object, path: str, around: Around) -> field.Errors:
    yield from checks.port_number(f"{path}.port", action.get("port") or 0)


_NO_ZERO = ". Enable AllowPodLifecycleSleepActionZeroValue feature gate for zero sleep."


def _validate_sleep(action: Object, path: str, around: Around) -> field.Errors:
    seconds = action.get("seconds") or 0
    zero = has("PodLifecycleSleepActionAllowZero")
    if around.grace is None or (0 if zero else 1) <= seconds <= around.grace:
        return
    minimum, hint = ("non-negative", "") if zero else ("greater than 0", _NO_ZERO if has("HintOfZeroSleep") else "")
    text = f"must be {minimum} and less than terminationGracePeriodSeconds ({around.grace}){hint}"
    yield field.invalid(path, seconds, text)


_KINDS = {
    "exec": _validate_exec,
    "httpGet": _validate_http,
    "tcpSocket": _validate_tcp,
    "grpc": _validate_grpc,
    "sleep": _validate_sleep,
}
