"""The shipped model, the default prover, and some of the proofs that it learned."""

from importlib.util import find_spec
from pathlib import Path

SHIPPED = "shipped"
"""Its name as a model."""

PROOFS = "proofs.json"
"""File of its folder: a database of some of the proofs that it learned."""

_PACKAGE, _FOLDER, _WEIGHTS = "lean_dojo_plugins", "base_model", "model.safetensors"


def shipped_model() -> Path | None:
    """Return the folder of the model that ``make base-model`` puts into the package, if any."""
    package = find_spec(_PACKAGE)  # by name: this layer must not import that one
    places = None if package is None else package.submodule_search_locations
    for place in places or ():
        folder = Path(place) / _FOLDER
        if (folder / _WEIGHTS).is_file():
            return folder
    return None


def model_named(model: str) -> str:
    """Return the folder of the shipped model for its name; any other name as it is."""
    if model == SHIPPED and not Path(model).exists() and (folder := shipped_model()):
        return str(folder)
    return model


def shipped_proofs() -> Path | None:
    """Return the database of proofs that the shipped model learned, if there is a model."""
    folder = shipped_model()
    return None if folder is None else folder / PROOFS
