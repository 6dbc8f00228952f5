"""Prints the version of yt-dlp: `python -I -S -B version.py FOLDER...`, with the package folders.
"""

import os
import runpy
import sys

for folder in sys.argv[1:]:
    path = os.path.join(folder, "yt_dlp", "version.py")
    if os.path.isfile(path):
        print("yt-dlp version", runpy.run_path(path)["__version__"])
        break
