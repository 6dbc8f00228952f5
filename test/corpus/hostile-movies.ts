import { TONE } from "./attack.ts"
import type { Attack, AttackFile } from "./attack.ts"

const ENTRY_HEAD_BYTES = 12
/** Bytes of an alias before its typed parts: volume, file name, levels. */
const ALIAS_BYTES = 150
const ABSOLUTE_PATH = 2
const PARENTS = ["moov", "trak", "mdia", "minf", "dinf"]

/** Attacks by movies whose samples lie in a file elsewhere. */
export const LINKING: Attack[] = [
  {
    name: "a movie whose samples are in another file",
    words: () => "-enable_drefs 1 -use_absolute_path 1 -i in_1 -c copy -f u8 out_1",
    inputs: ({ outside }) => ({ in_1: ["a.mov", movieOf(`${outside}/secret`)] }),
  },
  {
    name: "such a movie, as an audio input",
    words: () => "-enable_drefs true -use_absolute_path true -f mp4 -i in_1 -c copy -f u8 out_1",
    inputs: ({ outside }) => ({ in_1: ["a.mp3", movieOf(`${outside}/secret`)] }),
  },
  {
    name: "such a movie, with an empty whitelist",
    words: () => "-i in_1 -c copy -f u8 out_1",
    inputs: ({ outside }) => ({ in_1: ["a.mov", movieOf(`${outside}/secret`)] }),
    unproven: "ffmpeg needs an option for it",
  },
]

/** A movie of sound whose samples begin where another file does. */
function movieOf(path: string): AttackFile {
  return { made: `${TONE} -ar 8000 -t 0.02 -c:a pcm_u8 -f mov`, turn: (movie) => link(movie, path) }
}

function link(movie: Buffer, path: string): Buffer {
  const at = movie.indexOf("dref") - 4
  const sizeBefore = movie.readUInt32BE(at)
  const references = Buffer.concat([movie.subarray(at, at + 16), aliasOf(path)])
  references.writeUInt32BE(references.length, 0)
  const rest = movie.subarray(at + sizeBefore)
  const made = Buffer.concat([movie.subarray(0, at), references, rest])
  for (const name of PARENTS) {
    const parent = made.lastIndexOf(name, at) - 4
    made.writeUInt32BE(made.readUInt32BE(parent) + references.length - sizeBefore, parent)
  }
  made.writeUInt32BE(0, made.indexOf("stco") + 12)
  return made
}

/** An entry of a data reference that names an absolute path, as old Macintoshes wrote it. */
function aliasOf(path: string): Buffer {
  const name = Buffer.from(path.length % 2 === 0 ? path : `/${path}`)
  const part = Buffer.alloc(4)
  part.writeUInt16BE(ABSOLUTE_PATH, 0)
  part.writeUInt16BE(name.length, 2)
  const end = Buffer.from([0xff, 0xff, 0, 0])
  const data = Buffer.concat([Buffer.alloc(ALIAS_BYTES), part, name, end])
  const head = Buffer.alloc(ENTRY_HEAD_BYTES)
  head.writeUInt32BE(head.length + data.length, 0)
  head.write("alis", 4)
  return Buffer.concat([head, data])
}
