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
    name: "a script of a graph within an input",
    words: () => `${PICTURE} -filter_complex_script in_1 -f rawvideo out_1`,
    inputs: ({ outside }) => ({ in_1: ["g.txt", `sendcmd=f=${outside}/secret`] }),
  },
  {
    name: "a graph in a file",
    words: ({ outside }) => `-f lavfi -graph_file ${outside}/secret -i x -f rawvideo out_1`,
  },
  {
    name: "a graph in a file, by the new syntax",
    words: ({ outside }) => `${PICTURE} -/filter_complex ${outside}/secret -f rawvideo out_1`,
    unproven: "ffmpeg 7 has it",
  },
  {
    name: "a value in a file, by the new syntax",
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
    unproven: "its message has only its own words",
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
    name: "a file that is no list",
    words: ({ outside }) => `-f concat -safe 0 -i ${outside}/secret -f wav out_1`,
  },
  {
    name: "a list with invalid lines",
    words: ({ outside }) => `-f u8 -i concatf:${outside}/secret -f u8 out_1`,
    unproven: "its message only calls them invalid",
  },
  {
    name: "a list of a file that is no list",
    words: () => "-f concat -safe 0 -i in_1 -f wav out_1",
    inputs: ({ outside }) => ({
      in_1: ["l.txt", `file 'concatf:${outside}/secret'\noption protocol_whitelist file,concatf\n`],
    }),
    unproven: "its message only says that it cannot be opened",
  },
  {
    name: "a key of HLS",
    words: ({ outside }) =>
      `${PICTURE} -c:v libx264 -f hls -hls_key_info_file ${outside}/lines out_1`,
    outputs: { out_1: "out.m3u8" },
  },
  {
    name: "a key of HLS in an input",
    words: () => `${PICTURE} -c:v libx264 -f hls -hls_key_info_file in_1 out_1`,
    inputs: ({ outside }) => ({ in_1: ["key.txt", `key\n${outside}/secret\n`] }),
    outputs: { out_1: "out.m3u8" },
    unproven: "its output derives from the key",
  },
  {
    name: "a key of HLS that an input names as a file",
    words: () => `${PICTURE} -c:v libx264 -f hls -hls_key_info_file in_1 out_1`,
    inputs: ({ outside }) => ({
      in_1: ["key.txt", `https://keys.example/a\nfile:${outside}/secret\n`],
    }),
    outputs: { out_1: "out.m3u8" },
    unproven: "its output derives from the key",
  },
  {
    name: "a key of HLS that an input names with NULs",
    words: () => `${PICTURE} -c:v libx264 -f hls -hls_key_info_file in_1 out_1`,
    inputs: ({ outside }) => ({
      in_1: ["key.txt", `https://keys.example/a\0\n${outside}/secret\0\nin_1.txt\n`],
    }),
    outputs: { out_1: "out.m3u8" },
    unproven: "its output derives from the key",
  },
  {
    name: "a matrix for x264",
    words: ({ outside }) =>
      `${PICTURE} -c:v libx264 -x264-params cqmfile=${outside}/secret -f mp4 out_1`,
    unproven: "its message only says that it cannot be read",
  },
  {
    name: "a table of colours",
    words: ({ outside }) => `${PICTURE} -vf lut3d=${outside}/words.txt -f rawvideo out_1`,
    unproven: "its message only calls the type unknown",
  },
  {
    name: "a log of an earlier pass",
    words: ({ outside }) =>
      `${PICTURE} -c:v mpeg4 -pass 2 -passlogfile ${outside}/secret -f avi out_1`,
    unproven: "it searches for another name",
  },
  {
    name: "a verbose log",
    words: ({ outside }) =>
      `-v trace -f ffmetadata -i ${outside}/words.txt ${NOTHING} -f wav out_1`,
  },
]

/** Large enough for letters of subtitles, whose size follows the height of the picture. */
const SCREEN = "-f lavfi -i color=black:s=640x360:d=0.1:r=10"

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
    name: "a text of drawtext with ../",
    words: ({ outside }) =>
      `${PICTURE} -filter_complex drawtext=fontcolor=white:textfile=../../../../../../..${outside}/secret ${GRAY}`,
    harm: "picture",
  },
  {
    name: "a text of drawtext in a graph file",
    words: () => `${PICTURE} -filter_script:v in_1 ${GRAY}`,
    inputs: ({ outside }) => ({
      in_1: ["g.txt", `drawtext=fontcolor=white:textfile=${outside}/secret`],
    }),
    harm: "picture",
  },
  {
    name: "a text of drawtext, by the new syntax",
    words: ({ outside }) =>
      `${PICTURE} -vf drawtext=/text=${outside}/secret:fontcolor=white ${GRAY}`,
    harm: "picture",
    unproven: "ffmpeg 7 has it",
  },
  {
    name: "its environment by drawtext",
    words: () => `${PICTURE} -vf drawtext=textfile=/proc/self/environ:fontcolor=white ${GRAY}`,
    harm: "picture",
    unproven: "such files report a size of 0",
  },
  {
    name: "subtitles",
    words: ({ outside }) => `${SCREEN} -vf subtitles=${outside}/words.srt ${GRAY}`,
    harm: "picture",
  },
  {
    name: "subtitles by the option's name, in quotes",
    words: ({ outside }) => `${SCREEN} -vf "subtitles=filename='${outside}/words.srt'" ${GRAY}`,
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
    name: "speech synthesis of the text",
    words: ({ outside }) => `-f lavfi -i flite=textfile=${outside}/secret -f u8 out_1`,
    harm: "success",
  },
]
