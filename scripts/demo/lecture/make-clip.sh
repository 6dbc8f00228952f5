#!/bin/sh
# Makes clip.mp4: slides with the two quiet voices of the speech demonstration, for the
# demonstration to level, caption and show in three sizes. Needs an ffmpeg with libx264 and drawtext.
set -eu
cd "$(dirname "$0")"

title="drawtext=font=Sans:fontcolor=white:x=96:y=96:fontsize=64"
line="drawtext=font=Sans:fontcolor=white@0.8:x=96:fontsize=40"

ffmpeg -hide_banner -loglevel error -y \
  -f lavfi -i "color=c=0x14213d:size=1280x720:rate=25" -i ../speech/clip.mp3 \
  -filter_complex "
    [0:v]drawbox=x=96:y=190:w=1088:h=4:color=0xf77f00:t=fill,
      $title:text=Levels of sound:enable=lt(t\,6),
      $line:y=240:text=1. A recording is too quiet:enable=lt(t\,6),
      $title:text=A good service:enable=gte(t\,6),
      $line:y=240:text=2. It brings voices to the right level:enable=gte(t\,6),
      $line:y=310:text=3. It writes down every word:enable=gte(t\,9),
      drawbox=x=96:y=640:w=1088:h=8:color=white@0.2:t=fill[slides]" \
  -map "[slides]" -map 1:a -shortest \
  -c:v libx264 -preset slower -crf 30 -g 250 -pix_fmt yuv420p -c:a aac -b:a 48k -ac 1 -ar 44100 \
  -map_metadata -1 -fflags +bitexact -flags +bitexact -movflags +faststart clip.mp4
