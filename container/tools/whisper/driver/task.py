"""Runs a transcription task: reads its audio, and reports the words."""

import ctranslate2
from transcription import transcribe_regions
from model import Model
from speech_regions import SAMPLE_RATE, AudioWindow, read_windows

# Minimum probability of a detected language. If the probability is lower, the language of further
# regions is detected.
PROBABILITY_MIN = 0.5
LANGUAGE_REGIONS_MAX = 3


def run_task(model: Model, order: dict, stream, report) -> dict:
    """Transcribes the audio that follows a task in the stream. Returns the language and its
    probability."""
    # A fixed seed gives the same words for the same audio, even if words are sampled.
    ctranslate2.set_random_seed(0)
    count = order["samples"]
    language, probability = order.get("language"), None
    clock = 0.0
    for window in read_windows(stream, count):
        if language is None and window.regions:
            language, probability = _detect_language(model, window)
        options = _options(order, language)
        for end, words in transcribe_regions(model, window.samples, window.regions, options):
            times = _WordTimes(window.offset / SAMPLE_RATE, clock, count / SAMPLE_RATE)
            report("words", words=[times.to_fields(word) for word in words])
            clock = times.clock
            report("progress", fraction=(window.offset + end) / count)
        report("progress", fraction=(window.offset + len(window.samples)) / count)
    return {"language": language, "probability": probability}


def _options(order: dict, language: str | None) -> dict:
    # Breaks up texts such as <|endoftext|>, which are control tokens of the model.
    prompt = (order.get("prompt") or "").replace("<|", "< |").strip()
    return {
        "language": language,
        "task": order["task"],
        "initial_prompt": f" {prompt}" if prompt else None,
    }


def _detect_language(model: Model, window: AudioWindow) -> tuple[str, float]:
    if not model.model.is_multilingual:
        return "en", 1.0
    found = []
    for start, end in window.regions[:LANGUAGE_REGIONS_MAX]:
        found.append(model.detect_audio_language(window.samples[start:end]))
        if found[-1][1] >= PROBABILITY_MIN:
            return found[-1]
    return max(found, key=lambda each: each[1])


class _WordTimes:
    """Converts times of words in a window to times in the whole audio, which never decrease."""

    def __init__(self, offset: float, clock: float, end: float) -> None:
        self._offset = offset
        self._end = end
        self.clock = clock

    def to_fields(self, word) -> list:
        start = min(max(self._offset + word.start, self.clock), self._end)
        self.clock = min(max(self._offset + word.end, start), self._end)
        confidence = min(max(float(word.probability), 0.0), 1.0)
        return [round(start, 3), round(self.clock, 3), word.word, round(confidence, 4)]
