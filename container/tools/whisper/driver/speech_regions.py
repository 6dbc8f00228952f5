"""Finds speech in audio by the voice activity detector Silero."""

from typing import NamedTuple

import numpy as np
from faster_whisper.vad import VadOptions, get_speech_timestamps

SAMPLE_RATE = 16_000
# Longest audio that the model transcribes at once, in seconds.
REGION_SECONDS_MAX = 30
# Length of the windows in which audio is read, in seconds. Windows keep the memory independent of
# the length of the audio.
WINDOW_SECONDS = 300

OPTIONS = VadOptions(
    min_speech_duration_ms=100, max_speech_duration_s=REGION_SECONDS_MAX, min_silence_duration_ms=160
)


class SpeechRegion(NamedTuple):
    """Range of samples in an audio window that contains speech and short pauses."""

    start: int
    end: int


class AudioWindow(NamedTuple):
    """Part of the audio, and the speech regions in that part. `offset` is the position of the
    window's first sample in the audio. A window begins and ends in a pause if possible."""

    offset: int
    samples: np.ndarray
    regions: list[SpeechRegion]


def read_windows(stream, sample_count: int):
    """Reads an audio stream of `sample_count` samples. Yields its windows."""
    samples = np.empty(0, np.float32)
    offset = 0
    left = sample_count
    while left > 0:
        fresh = _read(stream, min(left, WINDOW_SECONDS * SAMPLE_RATE - len(samples)))
        left -= len(fresh)
        samples = np.concatenate((samples, fresh))
        speech = get_speech_timestamps(samples, OPTIONS)
        end = len(samples) if left == 0 else _end_of_window(speech, len(samples))
        yield AudioWindow(offset, samples[:end], _join_regions(speech, end))
        samples = samples[end:].copy()
        offset += end


def _read(stream, count: int) -> np.ndarray:
    data = stream.read(2 * count)
    if len(data) < 2 * count:
        raise EOFError("The sound ended early.")
    return np.frombuffer(data, "<i2").astype(np.float32) / 32_768


def _end_of_window(speech: list[dict], length: int) -> int:
    """Returns the sample at which a window ends: the start of speech that may continue after the
    samples read so far, or else the end of these samples."""
    if not speech or speech[-1]["end"] < length:
        return length
    return speech[-1]["start"]


def _join_regions(speech: list[dict], end: int) -> list[SpeechRegion]:
    """Joins neighbouring speech to regions of up to REGION_SECONDS_MAX. Omits speech after `end`.
    """
    regions: list[SpeechRegion] = []
    for each in speech:
        if each["start"] >= end:
            break
        begins = regions[-1].start if regions else None
        if begins is not None and each["end"] - begins <= REGION_SECONDS_MAX * SAMPLE_RATE:
            regions[-1] = SpeechRegion(begins, each["end"])
        else:
            regions.append(SpeechRegion(each["start"], each["end"]))
    return regions
