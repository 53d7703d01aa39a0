"""Which worker runs which file: one begins at the first folder, the other at the last."""

from __future__ import annotations

from typing import Any

from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController


class TwoEnds(LoadFileScheduling):
    """Gives files in their order, from both ends of it.

    Neighbours share fixtures and imports, so each folder's are made by one worker, and only in the
    folder where the two meet by both; and they end at the same time.
    """

    def __init__(self, config: Any, log: Any = None) -> None:
        super().__init__(config, log)
        config.option.loadscopereorder = False

    def _assign_work_unit(self, node: WorkerController) -> None:
        if self.nodes.index(node) % 2:
            self.workqueue.move_to_end(next(reversed(self.workqueue)), last=False)
        super()._assign_work_unit(node)
