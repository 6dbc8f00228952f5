"""Writes down speech by faster-whisper: `python -I -S -B main.py`, for as long as stdin is open.

The first line of stdin is JSON and names the folders of packages and of the model, and how many
threads there are. Each task is one more line of JSON and the samples of its sound, as many as the line
says: mono, of 16 bits, the low byte first, 16,000 a second. One task is served after the other.

What happens is told as JSON lines on file descriptor 3: `ready` once the model is loaded; of a task
`words`, `progress`, and last `done`. After an `error` the process ends.
"""

import gc
import json
import os
import sys

# Modules beside this one, which an isolated Python does not find by itself.
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from memory import give_back, keep_freed


def main() -> int:
    orders = sys.stdin.buffer
    setup = json.loads(orders.readline())
    sys.path[1:1] = setup["packages"]
    os.environ["HF_HUB_OFFLINE"] = "1"
    # Halves of characters, which a model may say, have no form in UTF-8.
    with os.fdopen(3, "w", encoding="utf-8", errors="replace") as lines:

        def tell(kind: str, **fields) -> None:
            lines.write(json.dumps({"kind": kind, **fields}, ensure_ascii=False) + "\n")
            lines.flush()

        return run(setup, orders, tell)


def run(setup: dict, orders, tell) -> int:
    try:
        keep_freed()
        # These need the packages.
        from model import load_model
        from task import serve

        model = load_model(setup["model"], setup["threads"])
        tell("ready")
        while line := orders.readline():
            tell("done", **serve(model, json.loads(line), orders, tell))
            # What the task had is gone before the next one is read.
            model.forget()
            gc.collect()
            give_back()
        return 0
    # The engine raises whatever its parts do; the next task gets a new process.
    except Exception as error:
        tell("error", isOutOfMemory=is_out_of_memory(error), message=repr(error)[:2000])
        return 1


def is_out_of_memory(error: Exception) -> bool:
    """Whether an allocation failed, which native code says in words."""
    words = ("bad_alloc", "bad allocation", "allocate memory", "out of memory")
    return isinstance(error, MemoryError) or any(each in str(error) for each in words)


if __name__ == "__main__":
    sys.exit(main())
