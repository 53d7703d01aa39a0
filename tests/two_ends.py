"""Which worker runs which file: one begins at the first folder, the other at the last."""

from __future__ import annotations

from typing import Any

from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

MEETING = 20
"""Of so many files the one with the most tests goes first, so that both workers end together."""


class TwoEnds(LoadFileScheduling):
    """Gives files in their order, from both ends of it.

    Neighbours share fixtures and imports, so each folder's are made by one worker, except among the
    last files.
    """

    def __init__(self, config: Any, log: Any = None) -> None:
        super().__init__(config, log)
        config.option.loadscopereorder = False

    def _assign_work_unit(self, node: WorkerController) -> None:
        if len(self.workqueue) <= MEETING:
            largest = max(self.workqueue, key=lambda file: len(self.workqueue[file]))
            self.workqueue.move_to_end(largest, last=False)
        elif self.nodes.index(node) % 2:
            self.workqueue.move_to_end(next(reversed(self.workqueue)), last=False)
        super()._assign_work_unit(node)
