"""The modelled request charge: what an operation would cost on the service, in request units.

The service's formula is not public. `ChargeModel` repeats published numbers and recorded answers; every
number that comes out of it is modelled and is named so wherever it is shown.
"""

from cosmos_emulator.charges.model import ChargeModel
from cosmos_emulator.charges.profiles import PROFILES, Profile, ProfileName

__all__ = ["PROFILES", "ChargeModel", "Profile", "ProfileName"]
