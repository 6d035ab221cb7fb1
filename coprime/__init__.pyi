from coprime.catalog import FAMILIES as FAMILIES
from coprime.catalog import choose as choose
from coprime.catalog import family_named as family_named
from coprime.device.accelerator import Accelerator as Accelerator
from coprime.device.simulated import open_simulation as open_simulation
from coprime.errors import CoprimeError as CoprimeError

__version__: str
