import { execFile } from "node:child_process"
import { promisify } from "node:util"

const run = promisify(execFile)

/** Intact media of which ffmpeg says odd things, and a photo that is cut. */
const SCRIPT = String.raw`
set -e
make() { ffmpeg -v error -y "$@"; }
picture="-f lavfi -i testsrc2=s=160x120:r=25:d=3"
tone="-f lavfi -i sine=d=3"
quick="-c:v libx264 -preset ultrafast -pix_fmt yuv420p -g 25 -c:a aac"
loud="-f lavfi -i aevalsrc=if(lt(t\\,4)\\,0\\,0.8*(random(0)-0.5)):s=22050:d=12"

make $picture $tone $quick film.mp4
make $tone -f wav - >piped.wav
make $tone -f wav -rf64 auto - >piped64.wav
make $tone -f caf - >piped.caf
make $loud -c:a aac -b:a 128k quiet.aac
make $loud -c:a libmp3lame -q:a 0 -write_xing 0 quiet.mp3
make $picture $tone -c:v mpeg4 -f avi - >piped.avi
make $picture -f lavfi -i sine=d=20 -c:v wmv2 -c:a wmav2 short.wmv
make -i film.mp4 -c copy -f segment -segment_time 1 piece%d.mkv
make $tone -c:a libopus -output_ts_offset 100 late.opus
make -itsoffset 3 -i film.mp4 $tone -map 0:v -map 1:a -c copy late.mkv
make $picture $tone -c:v mpeg2video -g 12 -bf 2 -c:a mp2 program.mpg
make $tone -c:a libmp3lame song.mp3
make -f lavfi -i sine=f=300:d=30 -c:a libmp3lame -b:a 64k long.mp3
cat song.mp3 long.mp3 >joined.mp3
{ cat song.mp3; head -c 4096 /dev/zero; } >padded.mp3
{ cat song.mp3; printf 'LYRICSBEGININD0000200LYR00100%0100d000153LYRICS200TAG%0125d' 0 0; } >lyrics.mp3
make $tone tone.ogg
cat tone.ogg tone.ogg >joined.ogg
make -i film.mp4 -c copy film.ts
cat film.ts film.ts film.ts >joined.ts
make -ss 1.5 -i film.mp4 -c copy edited.mp4
make -f lavfi -i testsrc2=s=64x64:r=1/30:d=240 -c:v libx264 -preset ultrafast -pix_fmt yuv420p slow.mp4
# The header of this one says that it lasts one second.
make $tone -f lavfi -i sine=d=1 -map 1 -bitexact one.wav
make $tone -bitexact three.wav
{ head -c 44 one.wav; tail -c +45 three.wav; } >header.wav
make -f lavfi -i testsrc2=s=320x240 -frames:v 1 photo.jpg
head -c $(($(wc -c <photo.jpg) * 6 / 10)) photo.jpg >cut.jpg
`

/** Makes the odd media in a folder. */
export async function makeOddMedia(folder: string): Promise<void> {
  await run("sh", ["-c", SCRIPT], { cwd: folder })
}
