"""Validates spec.conversion: the strategy and the webhook.

Source: apiextensions-apiserver's validation and apiserver's util/webhook; the paths are those of the internal version.
"""

from __future__ import annotations

import base64
from bisect import bisect_left

from podless.codec import gourl
from podless.codec.gotext import Literal
from podless.meta import field, names
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object
from podless.runtime.lazy import compile_late
from podless.runtime.meter import charge, each
from podless.runtime.release import has

REVIEWS = ("v1", "v1beta1")
_STRATEGIES = ("None", "Webhook")
_ONLY = "should not be set when strategy is not set to Webhook"
_FORM = "; desired format: https://host[/path]"
_BEGIN = compile_late(rb"-----BEGIN ([^\n-]*+)-----[^\S\n]*+\n")
_END = compile_late(rb"-----END ([^\n-]*+)-----")


def check_conversion(conversion: Object | None, path: str, *, old: Object | None, any_bundle: bool) -> list[FieldError]:
    """Validate the field conversion. old: the field before an update. any_bundle: accept an invalid caBundle."""
    if conversion is None:
        return []
    strategy, webhook = conversion["strategy"], conversion.get("webhook") or {}
    client, reviews = webhook.get("clientConfig"), webhook.get("conversionReviewVersions") or []
    errors: list[FieldError] = []
    if not strategy:
        errors.append(field.required(f"{path}.strategy"))
    elif strategy not in _STRATEGIES:
        errors.append(field.not_supported(f"{path}.strategy", strategy, _STRATEGIES, named=False))
    if strategy == "Webhook":
        errors += _validate_client(client, f"{path}.webhookClientConfig", any_bundle)
        return errors + check_reviews(reviews, f"{path}.conversionReviewVersions", _had_supported_version(old))
    if client is not None:
        errors.append(field.forbidden(f"{path}.webhookClientConfig", _ONLY))
    if reviews:
        errors.append(field.forbidden(f"{path}.conversionReviewVersions", _ONLY))
    return errors


def bundle_fault(conversion: Object | None) -> str:
    """Return the fault of a conversion's caBundle, or ""."""
    client = ((conversion or {}).get("webhook") or {}).get("clientConfig") or {}
    return _bundle_fault(base64.b64decode(client.get("caBundle") or ""))


def _validate_client(client: Object | None, path: str, any_bundle: bool) -> list[FieldError]:
    if client is None:
        return [field.required(path, "required when strategy is set to Webhook")]
    errors = check_address(client, path)
    bundle = client.get("caBundle")
    fault = _bundle_fault(base64.b64decode(bundle)) if bundle and not any_bundle else ""
    return [*errors, field.invalid(f"{path}.caBundle", _shown_bytes(bundle), fault)] if fault else errors


def check_address(client: Object, path: str) -> list[FieldError]:
    """Validate the address in the clientConfig of a webhook: a URL or a Service."""
    url, service = client.get("url"), client.get("service")
    if (url is None) == (service is None):
        return [field.required(path, "exactly one of url or service is required")]
    return _check_url(str(url), f"{path}.url") if service is None else _check_service(service, f"{path}.service")


def _check_service(service: Object, path: str) -> list[FieldError]:
    # as in kube-apiserver, which confuses the two names
    errors = [
        field.required(f"{path}.{label}")
        for label, key in (("name", "namespace"), ("namespace", "name"))
        if not service[key]
    ]
    port = service.get("port", 443)
    if not 1 <= port <= 65535:
        errors.append(field.invalid(f"{path}.port", port, "port is not valid: must be between 1 and 65535, inclusive"))
    return errors + _service_path(service.get("path") or "/", f"{path}.path")


def _service_path(value: str, path: str) -> list[FieldError]:
    if value == "/":
        return []
    if value == "//":
        return [field.invalid(path, value, "segment[0] may not be empty")]
    errors = [] if value.startswith("/") else [field.invalid(path, value, "must start with a '/'")]
    for index, segment in enumerate(each(value[1:].removesuffix("/").split("/"))):
        if not segment:
            errors.append(field.invalid(path, value, f"segment[{index}] may not be empty"))
            continue
        errors += [field.invalid(path, value, f"segment[{index}]: {text}") for text in names.check_subdomain(segment)]
    return errors


def _check_url(value: str, path: str) -> list[FieldError]:
    try:
        url = gourl.parse_url(value)
    except gourl.URLError as error:
        return [field.required(path, f"url must be a valid URL: {error}{_FORM}")]
    checks = (
        (url.scheme == "https", url.scheme, f"'https' is the only allowed URL scheme{_FORM}"),
        (bool(url.host), url.host, f"host must be specified{_FORM}"),
        (url.user is None, url.user, "user information is not permitted in the URL"),
        (not url.fragment, url.fragment, "fragments are not permitted in the URL"),
        (not url.query, url.query, "query parameters are not permitted in the URL"),
    )
    return [field.invalid(path, value_shown, text) for is_valid, value_shown, text in checks if not is_valid]


def check_reviews(versions: list[str], path: str, strict: bool, missing: str = "") -> list[FieldError]:
    """Validate the review versions of a webhook.

    strict: require a version that this server supports. missing: the error text if there are none.
    """
    if not versions:
        return [field.required(path, missing)]
    errors: list[FieldError] = []
    seen: set[str] = set()
    for index, version in enumerate(each(versions)):
        if version in seen:
            errors.append(field.invalid(f"{path}[{index}]", version, "duplicate version"))
            continue
        seen.add(version)
        errors += field.invalid_details(f"{path}[{index}]", version, names.check_label_1035(version))
    if strict and not seen & set(REVIEWS):
        errors.append(field.invalid(path, versions, f"must include at least one of {', '.join(REVIEWS)}"))
    return errors


def _had_supported_version(old: Object | None) -> bool:
    """Return whether the old conversion named a supported version or none, so that the new one must name one."""
    versions = ((old or {}).get("webhook") or {}).get("conversionReviewVersions") or []
    return not versions or bool(set(versions) & set(REVIEWS))


def _split_pem(data: bytes) -> tuple[list[tuple[bytes, bytes]], bytes]:
    """Return the PEM blocks in a text, each with its type, and the text between them. Takes linear time."""
    ends: dict[bytes, list[int]] = {}
    for end in _END.finditer(data):
        charge(1)
        ends.setdefault(end[1], []).append(end.start())
    blocks: list[tuple[bytes, bytes]] = []
    texts: list[bytes] = []
    end_of_block = at = 0
    while begin := _BEGIN.search(data, at):
        charge(1)
        end_offsets = ends.get(begin[1], [])
        index = bisect_left(end_offsets, begin.end())
        at = begin.end()
        if index < len(end_offsets):
            texts.append(data[end_of_block : begin.start()])
            blocks.append((begin[1], data[at : end_offsets[index]]))
            end_of_block = at = end_offsets[index] + len(b"-----END -----") + len(begin[1])
    return blocks, b"".join((*texts, data[end_of_block:]))


def _shown_bytes(bundle: str | None) -> str | None:
    """Return base64 data as errors show it."""
    if bundle is None or has("ValuesAsJSON"):
        return bundle
    return Literal(f"[]byte{{{', '.join(map(hex, base64.b64decode(bundle)))}}}")


def _bundle_fault(data: bytes) -> str:
    """Return why PEM data has no valid certificate, or ""."""
    if not data or not has("CheckedBundles"):
        return ""
    from cryptography import x509  # a slow import, and few definitions have a bundle

    blocks, text_between = _split_pem(data)
    certificates = [body for kind, body in each(blocks) if kind == b"CERTIFICATE"]
    faults = []
    for body in each(certificates):
        try:
            x509.load_pem_x509_certificate(b"-----BEGIN CERTIFICATE-----\n" + body + b"-----END CERTIFICATE-----\n")
        except ValueError:
            faults.append("failed to parse certificate: x509: malformed certificate")
        else:
            return ""
    if not faults and blocks and not text_between:
        faults.append("no valid certificate authority data seen")
    return f"unable to load root certificates: {(faults or ['unable to parse bytes as PEM block'])[0]}"
