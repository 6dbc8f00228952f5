"""Transcribes speech by faster-whisper until stdin is closed: `python -I -S -B main.py`. The first
line of stdin is a JSON object with the package folders, the model folder and the number of threads.
Each task is another line of JSON, followed by the announced number of samples: mono, 16-bit
little-endian, 16,000 Hz. Tasks run one after another. Events are JSON lines on file descriptor 3:
`ready` after the model is loaded, then for each task `words`, `progress` and finally `done`. After
an `error` the process exits."""

import gc
import json
import os
import sys

# In isolated mode, Python does not search this folder for modules.
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from memory import keep_freed_memory, return_freed_memory


def main() -> int:
    orders = sys.stdin.buffer
    setup = json.loads(orders.readline())
    sys.path[1:1] = setup["packages"]
    os.environ["HF_HUB_OFFLINE"] = "1"
    # Replaces lone surrogates, which a model may emit and UTF-8 cannot encode.
    with os.fdopen(3, "w", encoding="utf-8", errors="replace") as lines:

        def report(kind: str, **fields) -> None:
            lines.write(json.dumps({"kind": kind, **fields}, ensure_ascii=False) + "\n")
            lines.flush()

        return run(setup, orders, report)


def run(setup: dict, orders, report) -> int:
    try:
        keep_freed_memory()
        # Imports these modules late, because they need the package folders.
        from model import load_model
        from task import run_task

        model = load_model(setup["model"], setup["threads"])
        report("ready")
        while line := orders.readline():
            report("done", **run_task(model, json.loads(line), orders, report))
            # Frees the memory of the task before the next task is read.
            model.drop_cached_audio()
            gc.collect()
            return_freed_memory()
        return 0
    # Catches all exceptions, since faster-whisper raises those of all its libraries. The runner
    # starts a new process for the next task.
    except Exception as error:
        report("error", isOutOfMemory=is_out_of_memory(error), message=repr(error)[:2000])
        return 1


def is_out_of_memory(error: Exception) -> bool:
    """Reports whether an exception means that memory could not be allocated. Native code reports
    this only in the message."""
    words = ("bad_alloc", "bad allocation", "allocate memory", "out of memory")
    return isinstance(error, MemoryError) or any(each in str(error) for each in words)


if __name__ == "__main__":
    sys.exit(main())
