const SAMPLES_PER_SECOND = 16_000
const TONE_HERTZ = 440
const AMPLITUDE = 8000
const BYTES_PER_SAMPLE = 2
const HEADER_BYTES = 44

/** A second of a tone as a WAV file: no tool of this machine is needed to make it. */
export function makeTone(): Uint8Array<ArrayBuffer> {
  const dataBytes = SAMPLES_PER_SECOND * BYTES_PER_SAMPLE
  const view = new DataView(new ArrayBuffer(HEADER_BYTES + dataBytes))
  writeText(view, 0, "RIFF")
  view.setUint32(4, HEADER_BYTES - 8 + dataBytes, true)
  writeText(view, 8, "WAVEfmt ")
  view.setUint32(16, 16, true)
  view.setUint16(20, 1, true)
  view.setUint16(22, 1, true)
  view.setUint32(24, SAMPLES_PER_SECOND, true)
  view.setUint32(28, SAMPLES_PER_SECOND * BYTES_PER_SAMPLE, true)
  view.setUint16(32, BYTES_PER_SAMPLE, true)
  view.setUint16(34, 8 * BYTES_PER_SAMPLE, true)
  writeText(view, 36, "data")
  view.setUint32(40, dataBytes, true)
  for (let index = 0; index < SAMPLES_PER_SECOND; index += 1) {
    const phase = (2 * Math.PI * TONE_HERTZ * index) / SAMPLES_PER_SECOND
    const sample = Math.round(AMPLITUDE * Math.sin(phase))
    view.setInt16(HEADER_BYTES + index * BYTES_PER_SAMPLE, sample, true)
  }
  return new Uint8Array(view.buffer)
}

const BOX_HEAD_BYTES = 8

/** What is wrong with the bytes of an MP4, whose boxes have to fill them; null where nothing is. */
export function judgeMp4(bytes: Uint8Array): string | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const boxes: string[] = []
  let at = 0
  while (at + BOX_HEAD_BYTES <= bytes.byteLength) {
    const size = view.getUint32(at)
    boxes.push(readText(view, at + 4))
    if (size < BOX_HEAD_BYTES) break
    at += size
  }
  if (boxes[0] !== "ftyp") return "it is no MP4: its first box is not ftyp"
  const missing = ["moov", "mdat"].filter((box) => !boxes.includes(box))
  if (missing.length > 0) return `it is an MP4 without ${missing.join(" and ")}`
  if (at !== bytes.byteLength) return `its boxes have ${at} bytes, and it has ${bytes.byteLength}`
  return null
}

/** What is wrong with the bytes of a WAV; null where nothing is. */
export function judgeWav(bytes: Uint8Array): string | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const isWav =
    bytes.byteLength > HEADER_BYTES && readText(view, 0) === "RIFF" && readText(view, 8) === "WAVE"
  return isWav ? null : "it is no WAV: it does not begin with RIFF and WAVE"
}

function writeText(view: DataView, at: number, text: string): void {
  for (const [index, code] of Buffer.from(text, "latin1").entries()) {
    view.setUint8(at + index, code)
  }
}

function readText(view: DataView, at: number): string {
  return String.fromCharCode(...[0, 1, 2, 3].map((index) => view.getUint8(at + index)))
}
