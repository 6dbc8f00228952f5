"""Transcribes files by faster-whisper: reads one request per line from stdin, and writes each transcript to stdout as JSON."""

import json
import sys

from faster_whisper import WhisperModel

model = WhisperModel(sys.argv[1], device="cpu", compute_type="int8", local_files_only=True)
print(json.dumps("ready"), flush=True)
for line in sys.stdin:
    order = json.loads(line)
    segments, _ = model.transcribe(
        order["path"],
        language=order["language"],
        temperature=[0.0, 0.4, 0.8],
        condition_on_previous_text=False,
        word_timestamps=True,
        vad_filter=True,
    )
    print(json.dumps("".join(segment.text for segment in segments)), flush=True)
