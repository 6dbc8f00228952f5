/** A command that makes nothing, though ffmpeg exits with 0, and its output's name. */
export type EmptyCase = { name: string; line: string }

/** An option that changes nothing and of which the judge at create knows no length. */
const UNJUDGED = "-stream_loop 0"

const PAST_END = `ffmpeg ${UNJUDGED} -ss 500 -i in_1`
const SELECT_NOTHING = "ffmpeg -i in_1 -vf select=0 -af aselect=0"
/** Less than a microsecond is 0 to ffmpeg, and not to the judge at create. */
const NO_TIME = "ffmpeg -i in_1 -t 0.0000001"
const COPY_PAST_END = `ffmpeg ${UNJUDGED} -i in_1 -ss 500 -c copy`

/** Names of outputs and what else their muxers need; one for every way to write a header. */
const OUTPUTS: [name: string, options: string][] = [
  ["o.mp4", ""],
  ["o.mp4", "-movflags frag_keyframe+empty_moov"],
  ["o.mp4", "-movflags +faststart -loglevel quiet"],
  ["o.mov", ""],
  ["o.mkv", ""],
  ["o.mkv", "-v error"],
  ["o.webm", "-deadline realtime -cpu-used 8"],
  ["o.avi", ""],
  ["o.flv", ""],
  ["o.ts", ""],
  ["o.wmv", ""],
  ["o.nut", ""],
  ["o.m3u8", "-hls_time 1"],
  ["o.m3u8", "-hls_segment_type fmp4 -hls_time 1"],
  ["part_%02d.mp4", "-f segment -segment_time 1"],
  ["part_%02d.mkv", "-f segment -segment_time 1"],
  ["o.mp3", ""],
  ["o.mp3", "-v quiet"],
  ["o.m4a", ""],
  ["o.wav", ""],
  ["o.flac", ""],
  ["o.ogg", ""],
  ["o.opus", ""],
  ["o.aac", ""],
  ["o.aiff", ""],
  ["o.w64", ""],
  ["o.gif", ""],
  ["o.png", "-frames:v 1"],
  ["o_%03d.jpg", ""],
  ["o.yuv", "-f rawvideo"],
  ["o.pcm", "-f s16le"],
  ["o.y4m", ""],
  ["o.ivf", "-c:v libvpx"],
]

const FEW = new Set(["o.mp4", "o.mkv", "o.ts", "o.m3u8", "o.m4a", "o.flv", "o.wav", "o.flac"])
const COPIED = new Set(["o.mp4", "o.mkv", "o.mov", "o.ts", "o.m3u8", "o.m4a", "o.flv"])

function casesOf(line: string, only?: ReadonlySet<string>): EmptyCase[] {
  return OUTPUTS.filter(([name]) => only === undefined || only.has(name)).map(
    ([name, options]) => ({ name, line: `${line} ${options} out_1`.replace(/ +/g, " ") }),
  )
}

export const EMPTY_CASES: EmptyCase[] = [
  ...casesOf(PAST_END),
  ...casesOf(SELECT_NOTHING),
  ...casesOf(NO_TIME, FEW),
  ...casesOf(COPY_PAST_END, COPIED),
  // The last group of pictures is copied, and an edit list hides all of it.
  { name: "o.mp4", line: `${PAST_END} -c copy out_1` },
  { name: "o.mp4", line: `ffmpeg ${UNJUDGED} -ss 500 -i in_8 -c copy out_1` },
  { name: "o.mkv", line: 'ffmpeg -ss 500 -i "concat:{{in_1}}" -c copy out_1' },
  { name: "o.mp4", line: "ffmpeg -i in_1 -map 0:v -frames:v 0 out_1" },
  { name: "o.avif", line: "ffmpeg -i in_1 -vf select=0 -an -frames:v 1 -cpu-used 8 out_1" },
  { name: "o.mp4", line: "ffmpeg -i in_1 -vf trim=start=50 -an out_1" },
  {
    name: "o.m4a",
    line: "ffmpeg -i in_2 -i in_3 -map 0:a -map 1:v -af aselect=0 -c:v mjpeg -disposition:v attached_pic out_1",
  },
]

/** Commands whose output may be small, late or empty, and that is right. */
export const RIGHT_CASES: EmptyCase[] = [
  { name: "o.srt", line: "ffmpeg -ss 500 -i in_4 out_1" },
  { name: "o.srt", line: "ffmpeg -i in_5 -map 0:s -t 0 out_1" },
  { name: "o.vtt", line: "ffmpeg -ss 500 -i in_4 out_1" },
  {
    name: "o.txt",
    line: "ffmpeg -i in_2 -af silencedetect=n=-90dB,ametadata=print:key=lavfi.silence_start:file=out_1 -f null -",
  },
  { name: "o.txt", line: "ffmpeg -i in_1 -t 0 -f ffmetadata out_1" },
  { name: "o.md5", line: "ffmpeg -i in_1 -t 0 -f framemd5 out_1" },
  { name: "o.mkv", line: "ffmpeg -i in_5 -map 0:s -c copy out_1" },
  { name: "o.png", line: "ffmpeg -ss 1.9 -i in_1 -frames:v 1 out_1" },
  { name: "o.mp4", line: "ffmpeg -i in_1 -frames:v 1 -an out_1" },
  { name: "o.mp3", line: "ffmpeg -i in_2 -t 0.05 out_1" },
  { name: "o.wav", line: "ffmpeg -i in_2 -t 0.001 out_1" },
  { name: "o.mp4", line: "ffmpeg -sseof -500 -i in_1 -c copy out_1" },
  { name: "o.mp4", line: "ffmpeg -loop 1 -ss 3 -t 1 -i in_3 out_1" },
  { name: "o.mp4", line: "ffmpeg -stream_loop 3 -ss 5 -i in_1 -t 1 out_1" },
  { name: "o.mp4", line: "ffmpeg -i in_1 -vf tpad=stop_duration=8 -ss 5 -an out_1" },
  { name: "o.mkv", line: "ffmpeg -i in_1 -itsoffset 20 -i in_2 -map 0:v -map 1:a -c:a aac out_1" },
  { name: "o.mkv", line: "ffmpeg -v quiet -i in_1 -c copy out_1" },
  { name: "o.mp3", line: "ffmpeg -i in_6 -vn out_1" },
  { name: "o.m4a", line: "ffmpeg -i in_7 -vn -c copy out_1" },
  { name: "o.mp4", line: "ffmpeg -i in_6 out_1" },
  {
    name: "o.mp4",
    line: "ffmpeg -i in_1 -i in_3 -map 0 -map 1 -c copy -c:v:1 mjpeg -disposition:v:1 attached_pic out_1",
  },
]
