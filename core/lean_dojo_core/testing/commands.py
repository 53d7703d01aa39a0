"""The conformance suite of commands."""

from __future__ import annotations

import io
from contextlib import redirect_stdout

from lean_dojo_core import registry
from lean_dojo_core.testing.suite import Suite


class CommandSuite(Suite):
    """Checks of a command.

    Set ``name``. What it does is for your own tests; ``click.testing.CliRunner`` helps.
    """

    _registry = registry.commands

    def test_explains_itself(self) -> None:
        """``--help`` explains the command and exits with 0."""
        said = io.StringIO()
        with redirect_stdout(said):
            self.subject.main(
                ["--help"],
                prog_name=self.entry.name,
                standalone_mode=False,
                help_option_names=["-h", "--help"],  # as under `lean-dojo`; click remembers them
            )
        assert f"Usage: {self.entry.name}" in said.getvalue(), (
            f"--help says {said.getvalue()[:80]!r}; leave it to click"
        )
        about = (getattr(self.subject, "help", None) or "").strip()
        assert about, "it has no help; give the function a docstring"
