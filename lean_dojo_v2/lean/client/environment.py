"""Requests about constants and expressions: ``env.*`` and ``expr.*``."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lean_dojo_v2.lean.client.connection import Connection
from lean_dojo_v2.lean.client.records import Expr, parse_expr
from lean_dojo_v2.lean.errors import RequestError


class EnvironmentCommands(Connection):
    """The environment: its constants, and expressions in it."""

    def expr_type(self, expr: Expr, *, timeout: float | None = None) -> Expr:
        """Give the type of an expression.

        Raises:
            RequestParseError: It is not an expression.
            RequestError: It has no type.
        """
        answer = self.ask("expr.echo", {"expr": str(expr)}, timeout)
        return self._read(answer, lambda a: parse_expr(a["type"]))

    def env_inspect(
        self,
        name: str,
        print_value: bool = False,
        print_dependency: bool = False,
        *,
        timeout: float | None = None,
    ) -> dict[str, Any]:
        """Describe a constant: its type and, if asked for, its value and what it depends on.

        Raises:
            RequestError: There is none of that name.
        """
        fields = {
            "name": name,
            "value": print_value,
            "dependency": print_dependency,
            "source": True,
        }
        return self.ask("env.inspect", fields, timeout)

    def env_catalog(
        self,
        module_prefix: str | None = None,
        invert_filter: bool = False,
        *,
        timeout: float | None = None,
    ) -> list[str]:
        """List the constants of the environment: of all modules, or of those with a prefix.

        Raises:
            RequestError: Modules were chosen, which the embedded engine cannot do.
        """
        if module_prefix is not None and self.kind == "embedded":
            raise RequestError("env.catalog: only the native engine lists single modules", "module")
        fields: dict[str, Any] = {"invertFilter": invert_filter}
        if module_prefix is not None:
            fields["modulePrefix"] = module_prefix
        with tempfile.TemporaryDirectory(prefix="lean-dojo-") as folder:
            listing = Path(folder) / "catalog.txt"
            if self.kind == "native":
                listing.touch()
                fields["filename"] = str(listing)
            answer = self.ask("env.catalog", fields, timeout)
            if "symbols" in answer:  # engines that write no files answer with the list itself
                return list(answer["symbols"])
            return listing.read_text(encoding="utf-8").split()

    def env_module_read(self, module: str, *, timeout: float | None = None) -> dict[str, Any]:
        """Describe a module: what it imports and the names of its constants."""
        return self.ask("env.module_read", {"module": module}, timeout)

    def env_describe(self, *, timeout: float | None = None) -> dict[str, Any]:
        """Name the modules that the environment was made from."""
        return self.ask("env.describe", {}, timeout)

    def env_save(self, path: str | Path, *, timeout: float | None = None) -> None:
        """Save the environment to a file (native engine: the embedded one writes no files)."""
        self.ask("env.save", {"path": str(Path(path).absolute())}, timeout)

    def env_load(self, path: str | Path, *, timeout: float | None = None) -> None:
        """Take the environment from a file (native engine)."""
        self._load("env.load", {"path": str(Path(path).absolute())}, timeout)

    def env_parse(
        self, src: str, category: str = "tactic", *, timeout: float | None = None
    ) -> tuple[str, str]:
        """Parse the beginning of a text; give what was parsed, and the rest.

        Raises:
            RequestParseError: The text does not begin with something of that category.
        """
        answer = self.ask("env.parse", {"input": src, "category": category}, timeout)
        data = src.encode()
        return data[: answer["pos"]].decode(), data[answer["pos"] :].decode()

    def env_add(
        self,
        name: str,
        levels: Sequence[str],
        t: Expr,
        v: Expr,
        is_theorem: bool = True,
        *,
        timeout: float | None = None,
    ) -> None:
        """Add a definition or a theorem to the environment.

        Raises:
            RequestError: Lean refused it.
        """
        fields = {
            "name": name,
            "levels": list(levels),
            "type": t,
            "value": v,
            "isTheorem": is_theorem,
            "typeErrorsAsGoals": False,
        }
        self._load("env.add", fields, timeout)
