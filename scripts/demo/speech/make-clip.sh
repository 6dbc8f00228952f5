#!/bin/sh
# Makes clip.mp3: two voices that are too quiet, the second more than the first, for the
# demonstration to normalize and transcribe. Needs flite, and an ffmpeg with libmp3lame.
set -eu
cd "$(dirname "$0")"
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT

flite -voice slt -o "$folder/question.wav" -t "Good morning. This recording is much too quiet. \
Can anybody still hear what I am saying?"
flite -voice rms -o "$folder/answer.wav" -t "I can, if I listen closely. \
A good service brings our voices to the right level, and then it writes down every word."

ffmpeg -hide_banner -loglevel error -y -i "$folder/question.wav" -i "$folder/answer.wav" \
  -filter_complex "
    [0:a]volume=-14dB,apad=pad_dur=0.6[question];
    [1:a]volume=-17dB[answer];
    [question][answer]concat=n=2:v=0:a=1[talk]" \
  -map "[talk]" -c:a libmp3lame -b:a 24k -ar 16000 -ac 1 \
  -metadata title="Too quiet" -metadata artist="Two voices of flite" -metadata language=eng \
  -fflags +bitexact clip.mp3
