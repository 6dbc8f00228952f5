"""The model, as faster-whisper loads it."""

import numpy as np
from faster_whisper import WhisperModel
from faster_whisper.audio import pad_or_trim


class Model(WhisperModel):
    """Encodes a sound once for finding its language and for writing it down."""

    _last: tuple[np.ndarray, object] | None = None

    def encode(self, features: np.ndarray):
        if self._last is not None and np.array_equal(self._last[0], features):
            return self._last[1]
        self._last = (features, super().encode(features))
        return self._last[1]

    def forget(self) -> None:
        """Drops what is left of the sounds that it heard."""
        self._last = None

    def language_of(self, sound: np.ndarray) -> tuple[str, float]:
        """The most probable language of up to 30 seconds, and its probability."""
        features = pad_or_trim(self.feature_extractor(sound)[..., :-1])
        token, probability = self.model.detect_language(self.encode(features))[0][0]
        return token[2:-2], probability


def load_model(folder: str, threads: int) -> Model:
    """Loads the model of a folder."""
    return Model(
        folder, device="cpu", compute_type="int8", cpu_threads=threads, local_files_only=True
    )
