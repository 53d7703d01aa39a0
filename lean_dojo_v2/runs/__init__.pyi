from .environments import (
    ENVIRONMENT_FILE as ENVIRONMENT_FILE,
    environment as environment,
    processes_here as processes_here,
    record_environment as record_environment,
)
from .figures import (
    COLOURS as COLOURS,
    inline_svg as inline_svg,
    new_figure as new_figure,
    plot_loss as plot_loss,
    plot_recall as plot_recall,
    plot_refusals as plot_refusals,
    plot_rewards as plot_rewards,
    plot_verified as plot_verified,
    refusal_shares as refusal_shares,
    save_figure as save_figure,
    titled_figure as titled_figure,
)
from .forgetting import FORGETTING_FILE as FORGETTING_FILE, Forgetting as Forgetting
from .metrics import (
    METRICS_FILE as METRICS_FILE,
    append_metrics as append_metrics,
    forget_metrics_after as forget_metrics_after,
    last_metrics as last_metrics,
    numbers_of as numbers_of,
    read_metrics as read_metrics,
)
from .progress import latest_progress as latest_progress, report_progress as report_progress
