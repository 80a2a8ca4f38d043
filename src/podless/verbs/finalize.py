"""finalize: the subresource that changes spec.finalizers and the metadata of a namespace."""

from __future__ import annotations

from typing import Final

from podless.verbs import options, steps
from podless.verbs.call import API, Call, Single
from podless.verbs.runner import PARSE, Stages, Write
from podless.verbs.update import UPDATE, rewrite_object


async def finalize_object(api: API, call: Call) -> Single:
    """Replace the finalizers; a deleted object without finalizers is removed. Raises as update does."""
    write = Write(call, options.read_write_options(call, "UpdateOptions"))
    await READ.run(api, write)
    return await rewrite_object(api, write, UPDATE)


def fit_name(write: Write) -> None:
    """Check that the object has the name of the path. Raises BadRequest."""
    steps.fit_name(write.call, write.obj["metadata"])


READ: Final = Stages[Write](PARSE, steps.read_body, fit_name)
