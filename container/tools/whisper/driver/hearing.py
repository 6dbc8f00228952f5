"""What is said in the regions of a window."""

import math

import numpy as np
from faster_whisper import BatchedInferencePipeline
from model import Model
from regions import RATE, Region

REGIONS_AT_ONCE = 6
# A text below this average (log) probability, or above this ratio of compression, is heard again.
LOG_PROBABILITY_MIN = -1.0
COMPRESSION_MAX = 2.4
# What is no speech with this probability, and improbable as text too, is dropped.
NO_SPEECH_MAX = 0.6
# Ways to hear again what came out improbable: the first takes the best words, the others vary them.
TEMPERATURES = [0.0, 0.4, 0.8]


def hear(model: Model, samples: np.ndarray, regions: list[Region], asked: dict):
    """Yields, of one region after the other, its end in samples and its words."""
    if len(regions) == 1:
        yield regions[0].end, _hear_alone(model, samples, regions[0], asked)
        return
    for batch in _batches(regions):
        for region, segment in zip(batch, _hear_batch(model, samples, batch, asked), strict=True):
            if _is_doubtful(segment):
                yield region.end, _hear_alone(model, samples, region, asked)
            else:
                yield region.end, segment.words or []


def _batches(regions: list[Region]) -> list[list[Region]]:
    """Regions in groups of about the same number, since a small one takes nearly as long."""
    count = math.ceil(len(regions) / REGIONS_AT_ONCE)
    ends = [len(regions) * place // max(count, 1) for place in range(count + 1)]
    return [regions[start:end] for start, end in zip(ends, ends[1:], strict=False)]


def _hear_batch(model: Model, samples: np.ndarray, regions: list[Region], asked: dict) -> list:
    """One segment a region."""
    segments, _ = BatchedInferencePipeline(model).transcribe(
        samples,
        clip_timestamps=[{"start": start / RATE, "end": end / RATE} for start, end in regions],
        batch_size=REGIONS_AT_ONCE,
        word_timestamps=True,
        without_timestamps=True,
        **asked,
    )
    return list(segments)


def _hear_alone(model: Model, samples: np.ndarray, region: Region, asked: dict) -> list:
    """The words of one region, which is heard again where they are improbable."""
    segments, _ = model.transcribe(
        samples[region.start : region.end],
        temperature=TEMPERATURES,
        compression_ratio_threshold=COMPRESSION_MAX,
        log_prob_threshold=LOG_PROBABILITY_MIN,
        no_speech_threshold=NO_SPEECH_MAX,
        condition_on_previous_text=False,
        word_timestamps=True,
        vad_filter=False,
        **asked,
    )
    words = []
    for segment in segments:
        # What is still a loop, or still improbable, is no speech.
        if _is_doubtful(segment):
            continue
        for word in segment.words or []:
            word.start += region.start / RATE
            word.end += region.start / RATE
            words.append(word)
    return words


def _is_doubtful(segment) -> bool:
    return (
        segment.compression_ratio > COMPRESSION_MAX or segment.avg_logprob < LOG_PROBABILITY_MIN
    )
