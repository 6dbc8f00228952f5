"""One task: a sound comes in, and what is said in it is told."""

import ctranslate2
from hearing import hear
from model import Model
from regions import RATE, Window, read_windows

# A language that is less probable is looked for in the next regions too.
PROBABILITY_MIN = 0.5
REGIONS_OF_LANGUAGE = 3


def serve(model: Model, order: dict, stream, tell) -> dict:
    """Reads the sound of an order from the stream; returns its language."""
    # Doubtful words are drawn by lot, and the same sound has the same words.
    ctranslate2.set_random_seed(0)
    count = order["samples"]
    language, probability = order.get("language"), None
    clock = 0.0
    for window in read_windows(stream, count):
        if language is None and window.regions:
            language, probability = _find_language(model, window)
        asked = _asked(order, language)
        for end, words in hear(model, window.samples, window.regions, asked):
            times = _Times(window.offset / RATE, clock, count / RATE)
            tell("words", words=[times.place(word) for word in words])
            clock = times.clock
            tell("progress", fraction=(window.offset + end) / count)
        tell("progress", fraction=(window.offset + len(window.samples)) / count)
    return {"language": language, "probability": probability}


def _asked(order: dict, language: str | None) -> dict:
    # Words such as <|endoftext|> are the model's own, and mean something to it.
    prompt = (order.get("prompt") or "").replace("<|", "< |").strip()
    return {
        "language": language,
        "task": order["task"],
        "initial_prompt": f" {prompt}" if prompt else None,
    }


def _find_language(model: Model, window: Window) -> tuple[str, float]:
    if not model.model.is_multilingual:
        return "en", 1.0
    found = []
    for start, end in window.regions[:REGIONS_OF_LANGUAGE]:
        found.append(model.language_of(window.samples[start:end]))
        if found[-1][1] >= PROBABILITY_MIN:
            return found[-1]
    return max(found, key=lambda each: each[1])


class _Times:
    """Places words in the whole sound, none before the one that came before it."""

    def __init__(self, offset: float, clock: float, end: float) -> None:
        self._offset = offset
        self._end = end
        self.clock = clock

    def place(self, word) -> list:
        start = min(max(self._offset + word.start, self.clock), self._end)
        self.clock = min(max(self._offset + word.end, start), self._end)
        confidence = min(max(float(word.probability), 0.0), 1.0)
        return [round(start, 3), round(self.clock, 3), word.word, round(confidence, 4)]
