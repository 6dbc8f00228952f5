"""Speech model of faster-whisper."""

import numpy as np
from faster_whisper import WhisperModel
from faster_whisper.audio import pad_or_trim


class Model(WhisperModel):
    """Speech model that caches the last encoded audio, because language detection and transcription
    encode the same audio."""

    _last: tuple[np.ndarray, object] | None = None

    def encode(self, features: np.ndarray):
        if self._last is not None and np.array_equal(self._last[0], features):
            return self._last[1]
        self._last = (features, super().encode(features))
        return self._last[1]

    def drop_cached_audio(self) -> None:
        """Drops the cached encoded audio."""
        self._last = None

    def detect_audio_language(self, samples: np.ndarray) -> tuple[str, float]:
        """Returns the most probable language of up to 30 seconds of audio, and its probability."""
        features = pad_or_trim(self.feature_extractor(samples)[..., :-1])
        token, probability = self.model.detect_language(self.encode(features))[0][0]
        return token[2:-2], probability


def load_model(folder: str, threads: int) -> Model:
    """Loads a speech model from a folder."""
    return Model(
        folder, device="cpu", compute_type="int8", cpu_threads=threads, local_files_only=True
    )
