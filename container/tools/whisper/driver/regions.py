"""Where there is speech in a sound, found by a detector of voice activity (Silero)."""

from typing import NamedTuple

import numpy as np
from faster_whisper.vad import VadOptions, get_speech_timestamps

RATE = 16_000
# What the model hears at once.
REGION_SECONDS_MAX = 30
# A sound is read in windows of so much, so that its length does not matter to memory.
WINDOW_SECONDS = 300

OPTIONS = VadOptions(
    min_speech_duration_ms=100, max_speech_duration_s=REGION_SECONDS_MAX, min_silence_duration_ms=160
)


class Region(NamedTuple):
    """Samples of a window that have speech, with the pauses between."""

    start: int
    end: int


class Window(NamedTuple):
    """A part of a sound that begins and ends in a pause, if there is one, and its speech."""

    offset: int
    samples: np.ndarray
    regions: list[Region]


def read_windows(stream, sample_count: int):
    """Yields the windows of a sound of so many samples."""
    samples = np.empty(0, np.float32)
    offset = 0
    left = sample_count
    while left > 0:
        fresh = _read(stream, min(left, WINDOW_SECONDS * RATE - len(samples)))
        left -= len(fresh)
        samples = np.concatenate((samples, fresh))
        speech = get_speech_timestamps(samples, OPTIONS)
        end = len(samples) if left == 0 else _last_pause(speech, len(samples))
        yield Window(offset, samples[:end], _pack(speech, end))
        samples = samples[end:].copy()
        offset += end


def _read(stream, count: int) -> np.ndarray:
    data = stream.read(2 * count)
    if len(data) < 2 * count:
        raise EOFError("The sound ended early.")
    return np.frombuffer(data, "<i2").astype(np.float32) / 32_768


def _last_pause(speech: list[dict], length: int) -> int:
    """Where speech begins that may go on behind the window, which is near its end."""
    if not speech or speech[-1]["end"] < length:
        return length
    return speech[-1]["start"]


def _pack(speech: list[dict], end: int) -> list[Region]:
    """Neighbours together, as far as the model hears them at once."""
    regions: list[Region] = []
    for each in speech:
        if each["start"] >= end:
            break
        begins = regions[-1].start if regions else None
        if begins is not None and each["end"] - begins <= REGION_SECONDS_MAX * RATE:
            regions[-1] = Region(begins, each["end"])
        else:
            regions.append(Region(each["start"], each["end"]))
    return regions
