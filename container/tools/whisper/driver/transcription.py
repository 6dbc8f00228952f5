"""Transcribes the speech regions of an audio window."""

import math

import numpy as np
from faster_whisper import BatchedInferencePipeline
from model import Model
from speech_regions import SAMPLE_RATE, SpeechRegion

REGIONS_AT_ONCE = 6
# Limits for the text of a region. A text is doubtful if its average log probability is below the
# minimum, or if its compression ratio is above the maximum because the text is repetitive.
LOG_PROBABILITY_MIN = -1.0
COMPRESSION_MAX = 2.4
# Probability of silence above which improbable text of a region is dropped.
NO_SPEECH_MAX = 0.6
# Temperatures at which a region is transcribed, in order, until its text is not doubtful. At
# temperature 0, the model takes the most probable words. At higher temperatures, the model samples
# words.
TEMPERATURES = [0.0, 0.4, 0.8]


def transcribe_regions(
    model: Model, samples: np.ndarray, regions: list[SpeechRegion], options: dict
):
    """Transcribes speech regions. Yields the end of each region, in samples of the window, and the
    words of the region."""
    if len(regions) == 1:
        yield regions[0].end, _transcribe_region(model, samples, regions[0], options)
        return
    for batch in _batches(regions):
        segments = _transcribe_batch(model, samples, batch, options)
        for region, segment in zip(batch, segments, strict=True):
            if _is_doubtful(segment):
                yield region.end, _transcribe_region(model, samples, region, options)
            else:
                yield region.end, segment.words or []


def _batches(regions: list[SpeechRegion]) -> list[list[SpeechRegion]]:
    """Groups regions into batches of similar size, since a small batch takes nearly as long as a
    large one."""
    count = math.ceil(len(regions) / REGIONS_AT_ONCE)
    ends = [len(regions) * place // max(count, 1) for place in range(count + 1)]
    return [regions[start:end] for start, end in zip(ends, ends[1:], strict=False)]


def _transcribe_batch(
    model: Model, samples: np.ndarray, regions: list[SpeechRegion], options: dict
) -> list:
    """Transcribes several regions in one batch. Returns one segment for each region."""
    segments, _ = BatchedInferencePipeline(model).transcribe(
        samples,
        clip_timestamps=[
            {"start": start / SAMPLE_RATE, "end": end / SAMPLE_RATE} for start, end in regions
        ],
        batch_size=REGIONS_AT_ONCE,
        word_timestamps=True,
        without_timestamps=True,
        **options,
    )
    return list(segments)


def _transcribe_region(
    model: Model, samples: np.ndarray, region: SpeechRegion, options: dict
) -> list:
    """Transcribes one region. Doubtful text is transcribed again at higher temperatures. Returns
    the words."""
    segments, _ = model.transcribe(
        samples[region.start : region.end],
        temperature=TEMPERATURES,
        compression_ratio_threshold=COMPRESSION_MAX,
        log_prob_threshold=LOG_PROBABILITY_MIN,
        no_speech_threshold=NO_SPEECH_MAX,
        condition_on_previous_text=False,
        word_timestamps=True,
        vad_filter=False,
        **options,
    )
    words = []
    for segment in segments:
        # Drops text that is still doubtful, because the region then contains no speech.
        if _is_doubtful(segment):
            continue
        for word in segment.words or []:
            word.start += region.start / SAMPLE_RATE
            word.end += region.start / SAMPLE_RATE
            words.append(word)
    return words


def _is_doubtful(segment) -> bool:
    return (
        segment.compression_ratio > COMPRESSION_MAX or segment.avg_logprob < LOG_PROBABILITY_MIN
    )
