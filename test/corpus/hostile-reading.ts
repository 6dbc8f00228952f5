import { BYTES, TONE } from "./attack.ts"
import type { Attack } from "./attack.ts"

const PACKETS = "-c:v rawvideo -video_size 4x1 -pixel_format gray"

/** Attacks that want the bytes of a file that is not theirs. */
export const READING: Attack[] = [
  {
    name: "raw samples",
    words: ({ outside }) => `${BYTES} -i ${outside}/secret -f u8 out_1`,
  },
  {
    name: "the data muxer",
    words: ({ outside }) => `-f data -i ${outside}/secret -map 0 -c copy -f data out_1`,
  },
  {
    name: "a hash of it",
    words: ({ outside }) => `-f data -i ${outside}/secret -map 0 -c copy -f hash -hash md5 out_1`,
  },
  {
    name: "samples with the sign inverted",
    words: ({ outside }) => `-f s8 -ar 8000 -i ${outside}/secret -f u8 out_1`,
  },
  {
    name: "wide samples, copied",
    words: ({ outside }) => `-f s16le -ar 8000 -i ${outside}/secret -c copy -f s16le out_1`,
  },
  {
    name: "samples played backwards",
    words: ({ outside }) => `${BYTES} -i ${outside}/secret -af areverse -f u8 out_1`,
  },
  {
    name: "raw frames",
    words: ({ outside }) =>
      `-f rawvideo -video_size 2x1 -pixel_format gray -i ${outside}/secret -f rawvideo out_1`,
  },
  {
    name: "a series of pictures",
    words: ({ outside }) => `-f image2 ${PACKETS} -i ${outside}/secret -c copy -f rawvideo out_1`,
  },
  {
    name: "a glob pattern",
    words: ({ outside }) =>
      `-f image2 -pattern_type glob ${PACKETS} -i ${outside}/sec*t -c copy -f rawvideo out_1`,
  },
  {
    name: "pictures from a pipe",
    words: ({ outside }) =>
      `-f image2pipe ${PACKETS} -i ${outside}/secret -c copy -f rawvideo out_1`,
  },
  {
    name: "a path with ../",
    words: ({ outside }) => `${BYTES} -i ../../../../../../..${outside}/secret -f u8 out_1`,
  },
  {
    name: "a path with ../ below the folder",
    words: ({ outside }) => `${BYTES} -i ./../../../../../../../..${outside}/secret -f u8 out_1`,
  },
  ...[
    "file:",
    "subfile,,start,0,end,22,,:",
    "async:",
    "async:file:",
    "cache:",
    "cache:file:",
    "concat:",
    "crypto:",
  ].map((prefix): Attack => ({
    name: `the protocol ${prefix}`,
    words: ({ outside }) => `${BYTES} -i ${prefix}${outside}/secret -f u8 out_1`,
    ...(prefix === "crypto:" && { unproven: "it needs a key" }),
  })),
  {
    name: "concat: of a key and a path",
    words: ({ outside }) => `${BYTES} -i "concat:in_1.txt|${outside}/secret" -f u8 out_1`,
    inputs: () => ({ in_1: ["a.txt", "nothing"] }),
  },
  {
    name: "concatf: of a list",
    words: () => `${BYTES} -i concatf:in_1.txt -f u8 out_1`,
    inputs: ({ outside }) => ({ in_1: ["a.txt", `${outside}/secret\n`] }),
  },
  {
    name: "an attachment",
    words: ({ outside }) =>
      `${TONE} -attach ${outside}/secret -metadata:s:t mimetype=text/plain -f matroska out_1`,
  },
  {
    name: "the source amovie",
    words: ({ outside }) => `-f lavfi -i amovie=${outside}/secret:f=u8 -f u8 out_1`,
  },
  {
    name: "the source amovie inside a graph",
    words: ({ outside }) =>
      `${TONE} -filter_complex "amovie=filename=${outside}/secret:format_name=u8[a]" -map "[a]" -f u8 out_1`,
  },
  {
    name: "the source amovie with letters escaped",
    words: ({ outside }) =>
      String.raw`-f lavfi -i "amovie@x=f\ilename='${outside}/secr'et:f=u8" -f u8 out_1`,
  },
  {
    name: "a list with an absolute path",
    words: () => "-f concat -safe 0 -i in_1 -c copy -f u8 out_1",
    inputs: ({ outside }) => ({ in_1: ["l.txt", `file '${outside}/sound.wav'\n`] }),
  },
  {
    name: "a list with a path with ../",
    words: () => "-f concat -safe 0 -i in_1 -c copy -f u8 out_1",
    inputs: ({ outside }) => ({
      in_1: ["l.txt", `file ../../../../../../..${outside}/sound.wav\n`],
    }),
  },
  {
    name: "a list with file:",
    words: () => "-f concat -safe 0 -i in_1 -c copy -f u8 out_1",
    inputs: ({ outside }) => ({ in_1: ["l.txt", `file file:${outside}/sound.wav\n`] }),
  },
  {
    name: "a list without -f concat",
    words: () => "-safe 0 -i in_1 -c copy -f u8 out_1",
    inputs: ({ outside }) => ({
      in_1: ["clip.mp4", `ffconcat version 1.0\nfile ${outside}/sound.wav\n`],
    }),
  },
  {
    name: "a list in the command",
    words: ({ outside }) => {
      const text = Buffer.from(`file file:${outside}/sound.wav\n`).toString("base64")
      return `-f concat -safe 0 -protocol_whitelist file,data -i "data:text/plain;base64,${text}" -c copy -f u8 out_1`
    },
  },
  {
    name: "a list in a list",
    words: () => "-f concat -safe 0 -i in_1 -c copy -f u8 out_1",
    inputs: ({ outside }) => ({
      in_1: ["l.txt", "ffconcat version 1.0\nfile in_2.ffconcat\noption safe 0\n"],
      in_2: ["l.ffconcat", `ffconcat version 1.0\nfile ${outside}/sound.wav\n`],
    }),
  },
  {
    name: "tags of a file",
    words: ({ outside }) => `-f ffmetadata -i ${outside}/words.txt -f ffmetadata out_1`,
  },
  {
    name: "copied subtitles",
    words: ({ outside }) => `-f srt -i ${outside}/words.srt -c copy -f srt out_1`,
  },
  {
    name: "subtitles of another kind",
    words: ({ outside }) => `-f microdvd -i ${outside}/words.sub -f webvtt out_1`,
  },
  {
    name: "a picture",
    words: ({ outside }) => `-i ${outside}/picture.png -f rawvideo out_1`,
    harm: "success",
  },
  {
    name: "a film",
    words: ({ outside }) => `-i ${outside}/film.ts -c copy -f mpegts out_1`,
    harm: "success",
  },
  {
    name: "a picture by the source movie",
    words: ({ outside }) =>
      `${TONE} -filter_complex movie=${outside}/picture.png -f rawvideo out_1`,
    harm: "success",
  },
  {
    name: "its own environment",
    words: () => `${BYTES} -i /proc/self/environ -f u8 out_1`,
  },
  {
    name: "its own environment as an attachment",
    words: () =>
      `${TONE} -attach /proc/self/environ -metadata:s:t mimetype=text/plain -f matroska out_1`,
    unproven: "such files report a size of 0",
  },
  {
    name: "the environment of every process",
    words: () =>
      `-f image2 -pattern_type glob ${PACKETS} -i "/proc/[0-9]*/environ" -c copy -f rawvideo out_1`,
    unproven: "such files report a size of 0",
  },
  {
    name: "the environment of the parent",
    words: () => `${BYTES} -i /proc/thread-self/../../environ -f u8 out_1`,
  },
  {
    name: "inputs of other tasks",
    words: ({ work }) =>
      `-f image2 -pattern_type glob ${PACKETS} -i "${work}/*/in_1.txt" -c copy -f rawvideo out_1`,
  },
  {
    name: "files beside the workspace",
    words: () =>
      `-f image2 -pattern_type glob ${PACKETS} -i "../*/in_1.txt" -c copy -f rawvideo out_1`,
  },
  {
    name: "the service's secrets",
    words: ({ state }) => `${BYTES} -i ${state}/secrets.json -f u8 out_1`,
  },
  {
    name: "the service's files",
    words: ({ state }) =>
      `-f image2 -pattern_type glob ${PACKETS} -i "${state}/*/*/*/*/*" -c copy -f rawvideo out_1`,
  },
  {
    name: "a playlist with the name of a film",
    words: () => "-i in_1 -c copy -f mpegts out_1",
    inputs: ({ outside }) => ({ in_1: ["clip.mp4", playlist(`${outside}/film.ts`)] }),
    harm: "success",
  },
  {
    name: "a playlist with file://",
    words: () => "-i in_1 -c copy -f mpegts out_1",
    inputs: ({ outside }) => ({ in_1: ["clip.mkv", playlist(`file://${outside}/film.ts`)] }),
    harm: "success",
  },
  {
    name: "a playlist with ../",
    words: () => "-f hls -i in_1 -c copy -f mpegts out_1",
    inputs: ({ outside }) => ({
      in_1: ["a.m3u8", playlist(`../../../../../../..${outside}/film.ts`)],
    }),
    harm: "success",
  },
  {
    name: "a playlist with all protocols allowed",
    words: () =>
      "-protocol_whitelist file,crypto,data,http,tcp -allowed_extensions ALL -i in_1 -c copy -f mpegts out_1",
    inputs: ({ outside }) => ({ in_1: ["a.m3u8", playlist(`${outside}/film.ts`)] }),
    harm: "success",
  },
  {
    name: "a playlist in the command",
    words: ({ outside }) => {
      const text = Buffer.from(playlist(`file://${outside}/film.ts`)).toString("base64")
      return `-protocol_whitelist file,data -f hls -i "data:application/x-mpegurl;base64,${text}" -c copy -f mpegts out_1`
    },
    harm: "success",
  },
  {
    name: "a playlist by the source movie",
    words: () => "-f lavfi -i movie=in_1 -f rawvideo out_1",
    inputs: ({ outside }) => ({ in_1: ["clip.mp4", playlist(`${outside}/film.ts`)] }),
    harm: "success",
  },
  {
    name: "a manifest with the name of a film",
    words: () => "-i in_1 -c copy -f mp4 out_1",
    inputs: ({ outside }) => ({ in_1: ["clip.mp4", manifest(`${outside}/film.mp4`)] }),
    harm: "success",
  },
  {
    name: "a manifest with ../ in its base",
    words: () => "-f dash -i in_1 -c copy -f mp4 out_1",
    inputs: ({ outside }) => ({
      in_1: ["a.mpd", manifest(`../../../../../../..${outside}/film.mp4`)],
    }),
    harm: "success",
  },
]

/** A playlist whose one segment lies elsewhere. */
export function playlist(address: string): string {
  const head = "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:1"
  return `${head}\n#EXTINF:1,\n${address}\n#EXT-X-ENDLIST\n`
}

/** A manifest whose one stream lies elsewhere. */
export function manifest(address: string): string {
  return `<?xml version="1.0"?>
<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT1S" profiles="urn:mpeg:dash:profile:isoff-on-demand:2011">
<Period><AdaptationSet mimeType="video/mp4"><Representation id="0" bandwidth="1000">
<BaseURL>${address}</BaseURL><SegmentBase indexRange="0-1"/></Representation></AdaptationSet></Period></MPD>`
}
