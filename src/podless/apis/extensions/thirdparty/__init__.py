"""ThirdPartyResources: names that say what they define, and the kinds that they make."""

from podless.apis.extensions.thirdparty.compile import compile_third
from podless.apis.extensions.thirdparty.names import Defined, defined, name_faults, name_of, plural_of

__all__ = ["Defined", "compile_third", "defined", "name_faults", "name_of", "plural_of"]
