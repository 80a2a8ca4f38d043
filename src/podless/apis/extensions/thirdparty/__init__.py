"""ThirdPartyResources: their names, and the kinds that they define."""

from podless.apis.extensions.thirdparty.compile import (
    Defined,
    compile_third,
    name_faults,
    parse_defined_name,
)

__all__ = ["Defined", "compile_third", "name_faults", "parse_defined_name"]
