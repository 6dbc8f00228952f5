#!/bin/sh
# Makes clip.mp4: ten seconds of video that start late and are too quiet, for the demonstration to correct.
# Needs an ffmpeg with flite, libx264 and drawtext.
set -eu
cd "$(dirname "$0")"

speech="Hello. This clip was made to be changed. It starts too late, and its voice is too quiet. \
Lathe turns it into something better."

ffmpeg -hide_banner -loglevel error -y \
  -f lavfi -i "gradients=size=640x360:rate=25:duration=4:speed=0.03:nb_colors=4:seed=3:\
c0=0x14213d:c1=0x6a4c93:c2=0xf77f00:c3=0x2a9d8f" \
  -f lavfi -i "mandelbrot=size=1280x720:rate=25:start_scale=0.8:end_scale=0.02:end_pts=175:\
start_x=-0.7436:start_y=0.1318:maxiter=120" \
  -f lavfi -i "flite=voice=slt:text='$speech'" \
  -filter_complex "
    [1:v]trim=duration=7,scale=640:360:flags=area,hue=h=200:s=0.6,format=yuv420p[fractal];
    [0:v]format=yuv420p[colors];
    [colors][fractal]xfade=transition=radial:duration=1:offset=3,
      drawtext=text=a clip to try Lathe with:font=Sans:fontsize=22:fontcolor=white@0.85:x=24:y=24:
        enable=lt(t\,4),
      vignette,fade=in:duration=1.2,fade=out:start_time=9.3:duration=0.7[picture];
    [2:a]adelay=1200,apad,atrim=duration=10,volume=-11dB[sound]" \
  -map "[picture]" -map "[sound]" -t 10 \
  -c:v libx264 -preset slower -crf 30 -pix_fmt yuv420p -c:a aac -b:a 64k -ar 44100 \
  -map_metadata -1 -movflags +faststart clip.mp4
