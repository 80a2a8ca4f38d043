"""ThirdPartyResources: names that say what they define, and the kinds that they make."""

from podless.kinds.thirdparty.compile import compile_third
from podless.kinds.thirdparty.names import Defined, defined, name_faults, name_of, plural_of

__all__ = ["Defined", "compile_third", "defined", "name_faults", "name_of", "plural_of"]
