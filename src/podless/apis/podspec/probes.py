"""Validates probes and lifecycle hooks of containers. Source: Kubernetes' pkg/apis/core/validation."""

from __future__ import annotations

from podless.apis.podspec.options import PodContext
from podless.apis.shared import checks
from podless.meta import field, names
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.release import has

_SCHEMES = ("HTTP", "HTTPS")
_NUMBERS = ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")
_GRACE = "terminationGracePeriodSeconds"
_SIGNALS = """
ABRT ALRM BUS CHLD CLD CONT FPE HUP ILL INT IO IOT KILL PIPE POLL PROF PWR QUIT SEGV STKFLT STOP SYS TERM TRAP TSTP
TTIN TTOU URG USR1 USR2 VTALRM WINCH XCPU XFSZ RTMIN RTMAX
"""
_NO_ZERO = ". Enable AllowPodLifecycleSleepActionZeroValue feature gate for zero sleep."
_REAL_TIME = (*(f"RTMIN+{number}" for number in range(1, 16)), *(f"RTMAX-{number}" for number in range(1, 15)))
_STOP_SIGNALS = {
    "linux": tuple(sorted(f"SIG{name}" for name in (*_SIGNALS.split(), *_REAL_TIME))),
    "windows": ("SIGKILL", "SIGTERM"),
}


def validate_probes(container: Object, path: str, pod: PodContext) -> field.Errors:
    """Validate the three probes of a container."""
    for name in ("livenessProbe", "readinessProbe", "startupProbe"):
        probe = container.get(name)
        if probe is None:
            continue
        field_path = f"{path}.{name}"
        yield from _validate_handler(probe, field_path, pod)
        yield from checks.validate_nonnegatives(probe, field_path, _NUMBERS)
        grace = probe.get(_GRACE)
        if grace is not None and grace <= 0:
            yield field.invalid(f"{field_path}.{_GRACE}", grace, "must be greater than 0")
        if name == "readinessProbe":
            if grace is not None:
                yield field.invalid(f"{field_path}.{_GRACE}", grace, "must not be set for readinessProbes")
        elif probe.get("successThreshold", 0) != 1:
            yield field.invalid(f"{field_path}.successThreshold", probe.get("successThreshold", 0), "must be 1")


def validate_lifecycle(hooks: Object, path: str, pod: PodContext) -> field.Errors:
    """Validate postStart, preStop and stopSignal of a container."""
    for name in ("postStart", "preStop"):
        if hooks.get(name) is not None:
            yield from _validate_handler(hooks[name], f"{path}.{name}", pod)
    signal, system = hooks.get("stopSignal"), pod.spec.get("os")
    if signal is None:
        return
    if system is None:
        yield field.forbidden(f"{path}.stopSignal", "may not be set for containers with empty `spec.os.name`")
    else:
        allowed = _STOP_SIGNALS.get(system.get("name", ""), (signal,))
        yield from field.one_of(f"{path}.stopSignal", signal, allowed)


def _validate_handler(handler: Object, path: str, pod: PodContext) -> field.Errors:
    set_handlers = [name for name in _KINDS if handler.get(name) is not None]
    if not set_handlers:
        yield field.required(path, "must specify a handler type")
        return
    yield from _KINDS[set_handlers[0]](handler[set_handlers[0]], f"{path}.{set_handlers[0]}", pod)
    for name in each(set_handlers[1:]):
        yield field.forbidden(f"{path}.{name}", "may not specify more than 1 handler type")


def _validate_exec(action: Object, path: str, pod: PodContext) -> list[FieldError]:
    return checks.require_fields(action, path, "command")


def _validate_http(action: Object, path: str, pod: PodContext) -> field.Errors:
    yield from checks.require_fields(action, path, "path")
    yield from checks.validate_port(f"{path}.port", action.get("port"))
    yield from field.one_of(f"{path}.scheme", action.get("scheme", ""), _SCHEMES)
    for header in each(action.get("httpHeaders") or ()):
        name = header.get("name", "")
        yield from field.invalid_details(f"{path}.httpHeaders", name, names.check_header_name(name))


def _validate_tcp(action: Object, path: str, pod: PodContext) -> field.Errors:
    return checks.validate_port(f"{path}.port", action.get("port"))


def _validate_sleep(action: Object, path: str, pod: PodContext) -> field.Errors:
    seconds, grace = action.get("seconds") or 0, pod.spec.get(_GRACE)
    zero = has("PodLifecycleSleepActionAllowZero")
    if grace is None or (0 if zero else 1) <= seconds <= grace:
        return
    minimum, hint = ("non-negative", "") if zero else ("greater than 0", _NO_ZERO if has("HintOfZeroSleep") else "")
    text = f"must be {minimum} and less than terminationGracePeriodSeconds ({grace}){hint}"
    yield field.invalid(path, seconds, text)


_KINDS = {
    "exec": _validate_exec,
    "httpGet": _validate_http,
    "tcpSocket": _validate_tcp,
    "grpc": _validate_tcp,
    "sleep": _validate_sleep,
}
