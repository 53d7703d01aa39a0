"""Provers: objects that find proofs, which Lean then verifies in full."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

import attrs

from lean_dojo_core import ClassSpec, Registry, hookspec

if TYPE_CHECKING:
    from lean_dojo_core import Theorem

ProblemT_contra = TypeVar("ProblemT_contra", contravariant=True)
ServerT_contra = TypeVar("ServerT_contra", contravariant=True)
ResultT_co = TypeVar("ResultT_co", covariant=True)


class Prover(Protocol[ProblemT_contra, ServerT_contra, ResultT_co]):
    """Finds proofs, which count only after full verification.

    Problems, servers and results are those of ``lean_dojo_v2.prover``, whose ``BaseProver`` needs
    only a tactic generator.
    """

    def search_many(
        self,
        problems: Sequence[ProblemT_contra],
        servers: Sequence[ServerT_contra],
        *,
        verbose: bool = False,
    ) -> Iterator[tuple[int, ResultT_co]]:
        """Work on several problems, with as many Lean engines as there are servers.

        Each problem's index and result are yielded as soon as they are known.
        """

    def generate_whole_proof(self, theorem: "Theorem | str") -> str:
        """Write a complete proof of a theorem, or of a statement's text, in one go, unchecked."""


@attrs.frozen(kw_only=True)
class ProverSpec(ClassSpec):
    """Describes a prover: a class whose instances find proofs, which Lean then verifies in full.

    The constructor takes the limits of the search as ``config``; its other parameters are the
    settings.

    Attributes:
        model_setting: The setting that names its model, which ``lean-dojo prove --model`` sets;
            ``None`` if it has no model.
    """

    kind: ClassVar = "prover"
    protocol: ClassVar = Prover
    suite: ClassVar = "lean_dojo_v2.kinds.testing:ProverSuite"

    model_setting: str | None = None


@hookspec
def lean_dojo_provers() -> Iterable[ProverSpec]:
    """Offer provers: classes whose instances find proofs, which Lean then verifies in full.

    ``lean-dojo prove --prover NAME`` and ``lean-dojo bench --prover NAME`` use them. See
    :class:`Prover`.

    >>> from lean_dojo_core import hookimpl
    >>> from lean_dojo_v2.kinds import ProverSpec
    >>> @hookimpl
    ... def lean_dojo_provers():
    ...     yield ProverSpec(
    ...         name="decide-only",
    ...         target="my_plugin.prover:DecideOnly",
    ...         summary="Tries `decide` at every goal.",
    ...     )
    """
    yield from ()


provers: Registry[ProverSpec, Prover[Any, Any, Any]] = Registry(ProverSpec)
"""The registry of provers."""
