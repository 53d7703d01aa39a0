"""The server of a round's model, which the processes of a machine share."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

from accelerate import PartialState
from accelerate.utils import gather_object
from accelerate.utils.memory import clear_device_cache

from lean_dojo_core.errors import UsageError
from lean_dojo_plugins.causal_lm.model.loading import is_adapter
from lean_dojo_plugins.causal_lm.model.merging import merge_lora
from lean_dojo_plugins.training.hub import resolve_model
from lean_dojo_v2.runs.processes import processes_here

LOG = "server.log"


@contextmanager
def served_here(
    serve: Callable[[str, Path], AbstractContextManager[str]],
    model: str,
    folder: Path,
    *,
    needed: bool,
    processes: PartialState,
) -> Iterator[str | None]:
    """Have one process of each machine serve a model until all of its processes leave the context.

    All processes enter it. A LoRA adapter is merged into its base first.

    Args:
        serve: Serves a model, given a file for the log.
        model: The model's folder or hub id.
        folder: The round's, for the server's log.
        needed: Whether this process has anything to ask.
        processes: The processes.

    Yields:
        The address of the server's API; ``None`` where no process of this machine needs one.

    Raises:
        UsageError: If the server of a machine does not start: in all processes.
    """
    first = processes.process_index - processes.local_process_index  # of this machine
    clear_device_cache(garbage_collection=True)  # the server needs the memory
    wanted = gather_object([needed])[first : first + processes_here(processes.num_processes)]
    number = f"-{first}" if first else ""
    with ExitStack() as stack:
        address, failure = None, None
        if processes.is_local_main_process and any(wanted):
            try:
                plain = stack.enter_context(_plain(model, folder / f"merged{number}"))
                log = (folder / LOG).with_stem(f"server{number}")
                address = stack.enter_context(serve(plain, log))
            except Exception as error:
                failure = error
        answers = gather_object([(address, failure and (str(failure) or repr(failure)))])
        if failure is not None:
            raise failure
        if why := next((text for _, text in answers if text), None):
            raise UsageError(f"the model is not served: {why}")
        yield answers[first][0]
        processes.wait_for_everyone()


@contextmanager
def _plain(model: str, merged: Path) -> Iterator[str]:
    """Give the model as servers take it: whole."""
    source = resolve_model(model)
    if not is_adapter(source):
        yield source
        return
    shutil.rmtree(merged, ignore_errors=True)  # of a run that was killed
    try:
        merge_lora(Path(source), merged)
        yield str(merged)
    finally:
        shutil.rmtree(merged, ignore_errors=True)
