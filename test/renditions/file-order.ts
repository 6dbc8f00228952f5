import { readFile } from "node:fs/promises"

const SEGMENT = 0x18538067
const LENGTH_BYTES_MAX = 8

/** Names of the boxes of an MP4 or MOV, from its beginning on. */
export async function boxesOf(path: string): Promise<string[]> {
  const bytes = await readFile(path)
  const names: string[] = []
  for (let at = 0; at + 8 <= bytes.length;) {
    const size = bytes.readUInt32BE(at)
    names.push(bytes.toString("latin1", at + 4, at + 8))
    at += size === 1 ? Number(bytes.readBigUInt64BE(at + 8)) : size || bytes.length
  }
  return names
}

const ELEMENTS = new Map([
  [0x1f43b675, "cluster"],
  [0x1c53bb6b, "cues"],
])

/** Which parts of a WebM's segment come in which order. */
export async function elementsOf(path: string): Promise<string[]> {
  const bytes = await readFile(path)
  const names: string[] = []
  for (let at = 0; at < bytes.length;) {
    const id = readNumber(bytes, at, true)
    const size = readNumber(bytes, at + id.length, false)
    const body = at + id.length + size.length
    const name = ELEMENTS.get(id.value)
    if (name !== undefined) names.push(name)
    at = id.value === SEGMENT ? body : body + size.value
  }
  return names
}

/** A number of EBML, whose first bits say how long it is; they belong to ids. */
function readNumber(bytes: Buffer, at: number, isId: boolean) {
  const first = bytes[at] ?? 0
  const length = Math.min(Math.clz32(first) - 23, LENGTH_BYTES_MAX)
  let value = isId ? first : first & (0xff >> length)
  for (let index = 1; index < length; index += 1) value = value * 256 + (bytes[at + index] ?? 0)
  return { length, value }
}
