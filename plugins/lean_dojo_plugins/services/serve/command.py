"""``lean-dojo serve``."""

import ipaddress
from pathlib import Path

import attrs
import click

from lean_dojo_core.errors import UsageError
from lean_dojo_core.wording import counted
from lean_dojo_plugins.services.folders import ServedFolders, folders_option
from lean_dojo_v2 import cli, lean
from lean_dojo_v2.lean_agent import ProverConfig

STOP_SECONDS = 30
"""Seconds for open requests to finish when the server is stopped."""


@click.command()
@cli.with_options
def serve(
    *,
    host: str = cli.option(metavar="HOST", default="127.0.0.1", help="Address to listen on."),
    port: int = cli.option(
        metavar="PORT", type=int, default=8000, help="Port to listen on; 0 picks a free one."
    ),
    engines: int | None = cli.option(
        **cli.NUMBER, help="Number of Lean engines (default: one per core)."
    ),
    engine: lean.EngineName = cli.shared(cli.engine_option),
    choice: cli.ProverChoice = cli.group(cli.ProverChoice),
    project: Path | None = cli.option(
        **cli.FOLDER, help="Lake project whose modules may be imported."
    ),
    folders: tuple[str, ...] = cli.shared(folders_option, ()),
    timeout: float = cli.option(
        metavar="SECONDS",
        type=float,
        default=300.0,
        help="Longest time limit that a request may set.",
    ),
    max_requests: int = cli.option(
        **cli.NUMBER,
        default=64,
        help="Maximum number of open requests; further ones get status 503.",
    ),
    max_bytes: int = cli.option(
        **cli.NUMBER, default=2_000_000, help="Maximum size of a request in bytes."
    ),
    token: str | None = cli.option(
        metavar="TOKEN",
        envvar="LEAN_DOJO_SERVE_TOKEN",
        help="Bearer token that clients must send; needed to listen beyond this machine.",
    ),
) -> None:
    """Serve Lean's verdicts over HTTP.

    Judges tactics, proofs and whole files, and scores rewards. Also answers clients of Kimina Lean
    Server in their own format. The server's page is a playground where the prover suggests tactics
    and searches for proofs. Listens only on this machine by default, and refuses requests from
    pages of other sites. Requests are sent as application/json. The first signal to stop lets open
    requests finish.
    """
    if token is None and not _is_local(host):
        raise UsageError(
            f"--host {host} listens beyond this machine: set a --token (or LEAN_DOJO_SERVE_TOKEN) "
            "that clients must send"
        )
    try:
        import uvicorn

        from lean_dojo_plugins.services.serve.app import make_app
        from lean_dojo_plugins.services.serve.security import LOCAL_HOSTS, PunctualProtocol
        from lean_dojo_plugins.services.serve.service import RequestLimits, VerdictService
    except ModuleNotFoundError as error:
        raise UsageError(
            f"`lean-dojo serve` needs {error.name}: pip install 'lean-dojo-v2[serve]>=2'"
        ) from error

    served = ServedFolders.of(folders, project)
    limits = RequestLimits(max_requests, max_bytes, timeout)
    config = lean.PoolConfig(engine=engine, project_path=project)
    if engines is not None:
        config = attrs.evolve(config, size=engines)
    if choice.default_notice:
        cli.note(choice.default_notice)
    prover = choice.make(ProverConfig())
    service = VerdictService(config, limits, served)
    cli.note(f"{counted(config.size, 'engine', 'engines')}; stop with Ctrl-C.")
    names = {*LOCAL_HOSTS, host} if _is_local(host) else None
    uvicorn.run(
        make_app(service, token=token, prover=prover, hosts=names),
        http=PunctualProtocol,
        host=host,
        port=port,
        log_level="info",
        access_log=False,
        timeout_graceful_shutdown=STOP_SECONDS,
    )


def _is_local(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
