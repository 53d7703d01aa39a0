from .examples import (
    ProgressExample as ProgressExample,
    examples_of as examples_of,
    progress_text as progress_text,
    read_examples as read_examples,
    training_examples as training_examples,
    write_examples as write_examples,
)
