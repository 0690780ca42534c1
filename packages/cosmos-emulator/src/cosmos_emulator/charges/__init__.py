"""The modeled request charge of an operation.

The service's formula is not public. `ChargeModel` reproduces published figures and recorded responses.
"""

from cosmos_emulator.charges.model import ChargeModel
from cosmos_emulator.charges.profiles import PROFILES, Profile, ProfileName

__all__ = ["PROFILES", "ChargeModel", "Profile", "ProfileName"]
