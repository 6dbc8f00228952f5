import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { wordsOf } from "./fixtures.ts"

const run = promisify(execFile)

const PICTURE = "-f lavfi -i testsrc2=s=32x32:r=5:d=0.6 -pix_fmt yuv420p"
const TONE = "-f lavfi -i sine=r=16000:d=0.3"
const HEADER_BYTES = 1024

/** Small media of many kinds, by the words that make them. */
const KINDS: Record<string, string> = {
  "a.mp4": `${PICTURE} -c:v libx264`,
  "b.mov": `${PICTURE} -c:v mpeg4`,
  "c.mkv": `${PICTURE} -c:v libx264`,
  "d.webm": `${PICTURE} -c:v libvpx`,
  "e.avi": `${PICTURE} -c:v mpeg4`,
  "f.flv": `${PICTURE} -c:v flv`,
  "g.ts": `${PICTURE} -c:v mpeg2video`,
  "h.mpg": `${PICTURE} -r 25 -c:v mpeg1video`,
  "i.gif": "-f lavfi -i testsrc2=s=32x32:r=5:d=0.6",
  "j.png": "-f lavfi -i testsrc2=s=32x32 -frames:v 1",
  "k.jpg": "-f lavfi -i testsrc2=s=32x32 -frames:v 1",
  "l.webp": "-f lavfi -i testsrc2=s=32x32 -frames:v 1",
  "m.bmp": "-f lavfi -i testsrc2=s=32x32 -frames:v 1",
  "n.tiff": "-f lavfi -i testsrc2=s=32x32 -frames:v 1",
  "o.y4m": PICTURE,
  "p.nut": `${PICTURE} -c:v mpeg4`,
  "q.h264": `${PICTURE} -c:v libx264`,
  "r.mxf": `${PICTURE} -r 25 -c:v mpeg2video`,
  "s.asf": `${PICTURE} -c:v wmv2`,
  "t.mp3": TONE,
  "u.wav": TONE,
  "v.flac": TONE,
  "w.ogg": TONE,
  "x.opus": `${TONE} -ar 48000`,
  "y.m4a": TONE,
  "z.aac": TONE,
  "a.ac3": `${TONE} -ar 48000`,
  "b.aiff": TONE,
  "c.au": TONE,
  "d.jp2": "-f lavfi -i testsrc2=s=32x32 -frames:v 1",
}

/** Damaged media, the same every time for one seed. */
export async function makeMutations(
  seed: number,
  each: number,
): Promise<[string, Uint8Array<ArrayBuffer>][]> {
  const random = openRandom(seed)
  const folder = await mkdtemp(join(tmpdir(), "lathe-mutations-"))
  try {
    const made: [string, Uint8Array<ArrayBuffer>][] = []
    for (const [name, line] of Object.entries(KINDS)) {
      await run("ffmpeg", ["-v", "error", ...wordsOf(line), name], { cwd: folder })
      const whole = new Uint8Array(await readFile(join(folder, name)))
      for (let count = 0; count < each; count += 1) made.push([name, mutate(whole, random)])
    }
    return made
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Some bytes of the head replaced, and now and then the end cut off or a piece repeated. */
function mutate(whole: Uint8Array<ArrayBuffer>, random: () => number): Uint8Array<ArrayBuffer> {
  const copy = whole.slice()
  const count = 1 + Math.floor(random() * 40)
  for (let index = 0; index < count; index += 1) {
    const at = Math.floor(random() * Math.min(copy.length, HEADER_BYTES))
    copy[at] = random() < 0.5 ? 0xff : Math.floor(random() * 256)
  }
  const kind = random()
  if (kind < 0.2) return copy.slice(0, Math.ceil(copy.length * random()))
  if (kind < 0.4) return new Uint8Array([...copy.slice(0, 64), ...copy])
  return copy
}

/** Numbers from 0 to 1 that follow from a seed (mulberry32). */
export function openRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d_2b_79_f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
