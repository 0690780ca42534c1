"""The modeled request charge of an operation.

The service's formula is not public; `ChargeModel` reproduces published and recorded charges.
"""

from cosmos_emulator.charges.model import ChargeModel
from cosmos_emulator.charges.profiles import PROFILES, Profile, ProfileName

__all__ = ["PROFILES", "ChargeModel", "Profile", "ProfileName"]
