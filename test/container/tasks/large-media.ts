import { execFile } from "node:child_process"
import { promisify } from "node:util"

const run = promisify(execFile)

/**
 * Generates media of 17 MB in formats that place index and duration differently, some of them with
 * wrong headers.
 */
const SCRIPT = String.raw`
set -e
make() { ffmpeg -v fatal -y "$@"; }
make -f lavfi -i testsrc2=s=320x180:r=25:d=2,noise=alls=40 -f lavfi -i anoisesrc=d=2 \
  -c:v libx264 -preset ultrafast -qp 10 -g 25 -pix_fmt yuv420p -c:a aac -metadata title=A \
  -shortest film.mp4
long() { make -stream_loop -1 "$@"; }
film="-i film.mp4 -map 0:v -map 0:a -fs 17M -c copy"
long $film end.mp4
long $film -movflags +faststart head.mp4
long $film -movflags frag_keyframe+empty_moov fragments.mp4
long $film -movflags frag_keyframe+empty_moov+global_sidx index.mp4
long $film end.mkv
long $film -f matroska -live 1 live.mkv
long $film stream.ts
long $film film.flv
long -i film.mp4 -map 0:v -fs 17M -c copy raw.h264
make -i film.mp4 -c:v mpeg2video -q:v 1 -g 12 -c:a pcm_s16le -ar 48000 short.mxf
long -i short.mxf -map 0 -fs 17M -c copy film.mxf
long -i short.mxf -map 0 -fs 17M -c copy film.avi
make -i film.mp4 -c:v mpeg2video -q:v 1 -c:a mp2 short.mpg
long -i short.mpg -map 0 -fs 17M -c copy film.mpg
make -i film.mp4 -c:v wmv2 -q:v 1 -c:a wmav2 short.wmv
long -i short.wmv -map 0 -fs 17M -c copy film.wmv
make -i film.mp4 -vn -c:a libmp3lame -q:a 0 short.mp3
sound="-map 0:a -fs 17M -c copy"
long -i short.mp3 $sound song.mp3
long -i short.mp3 $sound -write_xing 0 bare.mp3
long -i short.mp3 $sound -write_id3v1 1 -metadata artist=B tags.mp3
long -i film.mp4 $sound sound.aac
long -i film.mp4 $sound sound.m4a
make -i film.mp4 -vn -c:a flac short.flac
long -i short.flac $sound sound.flac
make -i film.mp4 -vn -c:a libopus -b:a 256k short.opus
long -i short.opus $sound sound.opus
make -f lavfi -i anoisesrc=r=48000:d=180 -c:a pcm_s16le sound.wav
make -i sound.wav sound.aiff
size=16900000
for name in end.mp4 end.mkv film.avi sound.wav film.wmv; do head -c $size $name >cut.$name; done
head -c 16900001 stream.ts >cut.ts
cat short.opus sound.opus >joined.opus
{ printf 'ID3\003\0\0\177\177\177\177'; cat short.mp3; head -c $size /dev/zero; } >lying.mp3
{ head -c 32 film.mp4; printf '\0\0\0\1mdat\0\0\0\2\0\0\0\0'; head -c $size /dev/zero; tail -c +33 film.mp4; } >lying.mp4
{ cat film.mp4; head -c $size /dev/zero; tail -c +33 film.mp4; } >twice.mp4
cat stream.ts stream.ts >jumps.ts
head -c $size /dev/urandom >random.mp4
yes "Plain words" | head -c $size >words.txt
rm short.*
`

/** Creates the media in a folder, and a short film.mp4 beside them. */
export async function makeLargeMedia(folder: string): Promise<void> {
  await run("sh", ["-c", SCRIPT], { cwd: folder })
}
