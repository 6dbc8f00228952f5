"""Prints the versions of faster-whisper and CTranslate2: `python -I -S -B version.py FOLDER...`,
with the package folders."""

import os
import runpy
import sys


def version_of(package: str) -> str | None:
    for folder in sys.argv[1:]:
        path = os.path.join(folder, package, "version.py")
        if os.path.isfile(path):
            return runpy.run_path(path)["__version__"]
    return None


print("faster-whisper version", version_of("faster_whisper"), "ctranslate2", version_of("ctranslate2"))
