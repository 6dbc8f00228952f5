import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import type { ToolRun, SandboxLab } from "../lab.ts"

/** Name of an attack, and its ffmpeg command line. */
export type AttackCase = [string, (lab: SandboxLab) => string]

const PICTURE = "-f lavfi -i color=s=32x32:d=0.1"
const TONE = "-f lavfi -i sine=d=0.1"

/** Attempts to make ffmpeg print or store the content of an outside file. */
export const READING: AttackCase[] = [
  ["raw samples", ({ outside }) => `-f u8 -ar 8000 -i ${outside}/secret -f u8 out.raw`],
  ["the data muxer", ({ outside }) => `-f data -i ${outside}/secret -map 0 -c copy -f data out`],
  ["a path with ../", () => "-f u8 -ar 8000 -i ../outside/secret -f u8 out.raw"],
  ["file:", ({ outside }) => `-f u8 -ar 8000 -i file:${outside}/secret -f u8 out.raw`],
  [
    "subfile:",
    ({ outside }) => `-f u8 -ar 8000 -i subfile,,start,0,end,28,,:${outside}/secret -f u8 out.raw`,
  ],
  ["concat:", ({ outside }) => `-f u8 -ar 8000 -i concat:${outside}/secret|in.txt -f u8 out.raw`],
  [
    "an attachment",
    ({ outside }) => `${TONE} -attach ${outside}/secret -metadata:s:t mimetype=text/plain out.mkv`,
  ],
  [
    "a text of drawtext",
    ({ outside }) =>
      `${PICTURE} -vf drawtext=textfile=${outside}/secret:fontsize=4 -f rawvideo out.raw`,
  ],
  [
    "subtitles",
    ({ outside }) => `${PICTURE} -vf subtitles=${outside}/words.srt -f rawvideo out.raw`,
  ],
  ["a filter script", ({ outside }) => `${PICTURE} -filter_script:v ${outside}/secret -f null -`],
  ["metadata", ({ outside }) => `-f ffmetadata -i ${outside}/words.txt -f ffmetadata out.txt`],
  ["the source movie", ({ outside }) => `-f lavfi -i amovie=${outside}/secret:f=u8 -f u8 out.raw`],
  ["a list of concat", () => "-f concat -safe 0 -i list.txt -c copy out.wav"],
  ["a playlist inside an input", () => "-i playlist.mp4 out.wav"],
  ["its own environment", () => "-f u8 -ar 8000 -i /proc/self/environ -f u8 out.raw"],
  [
    "the environment of the runner",
    () => `-f u8 -ar 8000 -i /proc/${process.pid}/environ -f u8 out.raw`,
  ],
]

/** Attempts to make ffmpeg write outside. */
export const WRITING: AttackCase[] = [
  ["an output", ({ outside }) => `${TONE} ${outside}/out.wav`],
  ["a path with ../", () => `${TONE} ../outside/out.wav`],
  ["an existing file", ({ outside }) => `${TONE} -f u8 ${outside}/secret`],
  [
    "a pass log",
    ({ outside }) => `${PICTURE} -c:v libx264 -pass 1 -passlogfile ${outside}/log -f null -`,
  ],
  ["progress", ({ outside }) => `-progress ${outside}/progress ${TONE} -f null -`],
  ["statistics", ({ outside }) => `${PICTURE} -vstats_file ${outside}/stats -f mpegts out.ts`],
  [
    "tee",
    ({ outside }) => `${TONE} -map 0 -c:a pcm_s16le -f tee [f=wav]${outside}/tee.wav|[f=wav]in.wav`,
  ],
  ["segments", ({ outside }) => `${TONE} -f segment ${outside}/segment%d.wav`],
  ["a playlist", ({ outside }) => `${TONE} -f hls -hls_segment_filename ${outside}/%d.ts out.m3u8`],
  [
    "a dumped attachment",
    ({ outside }) => `-dump_attachment:t ${outside}/dumped -i attached.mkv -f null -`,
  ],
  [
    "a filter's log",
    ({ outside }) => `${TONE} -af ametadata=print:file=${outside}/printed -f null -`,
  ],
  [
    "an encoder's log",
    ({ outside }) => `${PICTURE} -c:v libx264 -x264-params stats=${outside}/x264:pass=1 -f null -`,
  ],
]

/** Attempts to make ffmpeg open a socket. */
export const CALLING: AttackCase[] = [
  ["http", ({ tcpPort }) => `-i http://127.0.0.1:${tcpPort}/in.mp4 -f null -`],
  ["tcp", ({ tcpPort }) => `-f u8 -i tcp://127.0.0.1:${tcpPort} -f null -`],
  ["udp", ({ udpPort }) => `${PICTURE} -f mpegts udp://127.0.0.1:${udpPort}`],
  ["rtp", ({ udpPort }) => `${TONE} -f rtp rtp://127.0.0.1:${udpPort}`],
  ["unix", ({ unixPath }) => `-f u8 -i unix:${unixPath} -f null -`],
  ["progress", ({ tcpPort }) => `-progress http://127.0.0.1:${tcpPort}/ ${TONE} -f null -`],
  [
    "tee",
    ({ tcpPort }) => `${TONE} -map 0 -c:a pcm_s16le -f tee [f=wav]tcp://127.0.0.1:${tcpPort}`,
  ],
  [
    "a filter",
    ({ tcpPort }) => `-f lavfi -i movie=http\\\\://127.0.0.1\\\\:${tcpPort}/x.mp4 -f null -`,
  ],
]

/** Runs an attack with the files that it needs. */
export async function attack(lab: SandboxLab, commandLine: string): Promise<ToolRun> {
  await lab.put("in.txt", "nothing")
  await lab.put("list.txt", `file '${lab.outside}/sound.wav'\n`)
  if (commandLine.includes("playlist.mp4")) await putPlaylist(lab)
  if (commandLine.includes("attached.mkv")) {
    await lab.ffmpeg(`${TONE} -attach in.txt -metadata:s:t mimetype=text/plain attached.mkv`)
  }
  return await lab.ffmpeg(commandLine)
}

/** Writes a segment outside: ffmpeg follows a playlist only to media. */
async function putPlaylist(lab: SandboxLab): Promise<void> {
  const segment = join(lab.workspace, "../segment.ts")
  await promisify(execFile)("ffmpeg", [...TONE.split(" "), segment])
  const tags = ["#EXTM3U", "#EXT-X-TARGETDURATION:1", "#EXTINF:1,", `file://${segment}`]
  await lab.put("playlist.mp4", `${tags.join("\n")}\n#EXT-X-ENDLIST\n`)
}
