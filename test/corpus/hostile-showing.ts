import { GRAY, PICTURE, TONE } from "./attack.ts"
import type { Attack } from "./attack.ts"

const NOTHING = "-f null -"

/** Attacks that want the text of a file in what ffmpeg says of its troubles. */
export const TELLING: Attack[] = [
  {
    name: "a filter script",
    words: ({ outside }) => `${PICTURE} -filter_script:v ${outside}/secret -f rawvideo out_1`,
  },
  {
    name: "a script of a graph",
    words: ({ outside }) => `${PICTURE} -filter_complex_script ${outside}/secret -f rawvideo out_1`,
  },
  {
    name: "a graph in a file",
    words: ({ outside }) => `-f lavfi -graph_file ${outside}/secret -i x -f rawvideo out_1`,
  },
  {
    name: "a graph in a file that the new spelling names",
    words: ({ outside }) => `${PICTURE} -/filter_complex ${outside}/secret -f rawvideo out_1`,
    unproven: "ffmpeg 7 has it",
  },
  {
    name: "a value in a file that the new spelling names",
    words: ({ outside }) => `${TONE} -/metadata ${outside}/secret -f wav out_1`,
    unproven: "ffmpeg 7 has it",
  },
  {
    name: "a preset",
    words: ({ outside }) => `${TONE} -fpre ${outside}/preset -f wav out_1`,
  },
  {
    name: "a preset of a video",
    words: ({ outside }) => `${PICTURE} -fpre:v ${outside}/secret -c:v mpeg4 -f avi out_1`,
    unproven: "ffmpeg 5 takes no stream for it",
  },
  {
    name: "movements for vidstab",
    words: ({ outside }) =>
      `${PICTURE} -vf vidstabtransform=input=${outside}/secret -f rawvideo out_1`,
    unproven: "it says only that they are not its own",
  },
  {
    name: "commands for filters",
    words: ({ outside }) => `${PICTURE} -vf sendcmd=f=${outside}/secret -f rawvideo out_1`,
  },
  {
    name: "commands for filters of sound",
    words: ({ outside }) => `${TONE} -af asendcmd=filename=${outside}/secret -f wav out_1`,
  },
  {
    name: "a list that is none",
    words: ({ outside }) => `-f concat -safe 0 -i ${outside}/secret -f wav out_1`,
  },
  {
    name: "a list of lines that are none",
    words: ({ outside }) => `-f u8 -i concatf:${outside}/secret -f u8 out_1`,
    unproven: "it says only that they are invalid",
  },
  {
    name: "a list in a list that is none",
    words: () => "-f concat -safe 0 -i in_1 -f wav out_1",
    inputs: ({ outside }) => ({
      in_1: ["l.txt", `file 'concatf:${outside}/secret'\noption protocol_whitelist file,concatf\n`],
    }),
    unproven: "it says only that it cannot be opened",
  },
  {
    name: "a key of HLS",
    words: ({ outside }) =>
      `${PICTURE} -c:v libx264 -f hls -hls_key_info_file ${outside}/lines out_1`,
    outputs: { out_1: "out.m3u8" },
  },
  {
    name: "a key of HLS that an input names",
    words: () => `${PICTURE} -c:v libx264 -f hls -hls_key_info_file in_1 out_1`,
    inputs: ({ outside }) => ({ in_1: ["key.txt", `key\n${outside}/secret\n`] }),
    outputs: { out_1: "out.m3u8" },
    unproven: "what it makes is of the key, and not the key",
  },
  {
    name: "a matrix for x264",
    words: ({ outside }) =>
      `${PICTURE} -c:v libx264 -x264-params cqmfile=${outside}/secret -f mp4 out_1`,
    unproven: "it says only that it cannot be read",
  },
  {
    name: "a table of colours",
    words: ({ outside }) => `${PICTURE} -vf lut3d=${outside}/words.txt -f rawvideo out_1`,
    unproven: "it says only that its kind is unknown",
  },
  {
    name: "a log of an earlier pass",
    words: ({ outside }) =>
      `${PICTURE} -c:v mpeg4 -pass 2 -passlogfile ${outside}/secret -f avi out_1`,
    unproven: "it looks for another name",
  },
  {
    name: "everything that it knows, in the log",
    words: ({ outside }) =>
      `-v trace -f ffmetadata -i ${outside}/words.txt ${NOTHING} -f wav out_1`,
  },
]

/** Attacks that want the text of a file in a picture, or spoken. */
export const SHOWING: Attack[] = [
  {
    name: "a text of drawtext",
    words: ({ outside }) =>
      `${PICTURE} -vf drawtext=textfile=${outside}/secret:fontcolor=white ${GRAY}`,
    harm: "picture",
  },
  {
    name: "a text of drawtext in quotes and escapes",
    words: ({ outside }) =>
      String.raw`${PICTURE} -vf "drawtext@x=te\xtfile='${outside}/'secret:fontcolor=white" ${GRAY}`,
    harm: "picture",
  },
  {
    name: "a text of drawtext in a graph",
    words: ({ outside }) =>
      `-f lavfi -i color=black:s=400x40:d=0.1,drawtext=fontcolor=white:textfile=${outside}/secret ${GRAY}`,
    harm: "picture",
  },
  {
    name: "a text of drawtext that climbs",
    words: ({ outside }) =>
      `${PICTURE} -filter_complex drawtext=fontcolor=white:textfile=../../../../../../..${outside}/secret ${GRAY}`,
    harm: "picture",
  },
  {
    name: "a text of drawtext by the new spelling",
    words: ({ outside }) =>
      `${PICTURE} -vf drawtext=/text=${outside}/secret:fontcolor=white ${GRAY}`,
    harm: "picture",
    unproven: "ffmpeg 7 has it",
  },
  {
    name: "its environment by drawtext",
    words: () => `${PICTURE} -vf drawtext=textfile=/proc/self/environ:fontcolor=white ${GRAY}`,
    harm: "picture",
    unproven: "such files say that they are empty",
  },
  {
    name: "subtitles",
    words: ({ outside }) => `${PICTURE} -vf subtitles=${outside}/words.srt ${GRAY}`,
    harm: "picture",
  },
  {
    name: "subtitles by the option's name, in quotes",
    words: ({ outside }) => `${PICTURE} -vf "subtitles=filename='${outside}/words.srt'" ${GRAY}`,
    harm: "picture",
  },
  {
    name: "subtitles of ASS",
    words: ({ outside }) => `${PICTURE} -vf ass=${outside}/words.ass ${GRAY}`,
    harm: "picture",
  },
  {
    name: "a terminal",
    words: ({ outside }) => `-f tty -i ${outside}/secret ${GRAY}`,
    harm: "picture",
  },
  {
    name: "a picture over the picture",
    words: ({ outside }) =>
      `${PICTURE} -vf "movie=${outside}/picture.png[l];[in][l]overlay" ${GRAY}`,
    harm: "picture",
  },
  {
    name: "a voice that reads it",
    words: ({ outside }) => `-f lavfi -i flite=textfile=${outside}/secret -f u8 out_1`,
    harm: "success",
  },
]
