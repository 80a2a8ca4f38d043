"""The filter that imports what some media types need, before their first use and off the loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module

from podless.http.message import Answer, Handler, HTTPRequest, Pending, settle_answer
from podless.offload.offloop import OffLoop

_MODULES = {  # part of a media type -> its modules, whose import takes 15 to 36 ms
    "yaml": ("podless.codec.yamltext", "podless.codec.yamlwrite"),
    "protobuf": ("podless.structs.protobuf_messages",),
    "as=Table": ("podless.publish.table",),
}
_KNOWN_MOST = 256


def _import_all(names: Sequence[str]) -> None:
    for name in names:
        import_module(name)


def with_imports(off_loop: OffLoop) -> Callable[[Handler], Handler]:
    """Return a filter that imports what the media types of a request need, then handles the request."""
    missing = dict(_MODULES)
    plain: set[tuple[str | None, str | None]] = set()  # pairs of media types (body, answer) that need no import

    def add_filter(handler: Handler) -> Handler:
        async def later(request: HTTPRequest, names: list[str]) -> Answer:
            for name in names:
                await off_loop.run_on_thread(_import_all, _MODULES[name])
                missing.pop(name, None)
            return await settle_answer(handler(request))

        def handle(request: HTTPRequest) -> Answer | Pending:
            if missing:
                find = request.headers.get
                media = find("content-type"), find("accept")
                if media not in plain:
                    if names := [name for name in missing if any(one and name in one for one in media)]:
                        return later(request, names)
                    if len(plain) >= _KNOWN_MOST:
                        plain.clear()
                    plain.add(media)
            return handler(request)

        return handle

    return add_filter
