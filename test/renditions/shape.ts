/** Corners of a picture from the top left on, by rows. */
export type Corner = "red" | "green" | "blue" | "gray"
export type Corners = readonly [Corner, Corner, Corner, Corner]

/** A kind of source that people send, and what is true of it, by how it is made. */
export type Shape = {
  name: string
  /** The file's name, whose end says the format. */
  file: string
  /** Texts that the steps read, by their names. */
  texts?: Readonly<Record<string, string>>
  /** Makes it in a folder, in steps of ffmpeg, which each make the file that they end with. */
  steps: readonly string[]
  /** Changes its bytes, after all steps. */
  change?: (bytes: Uint8Array<ArrayBuffer>) => Uint8Array<ArrayBuffer>
  /** Sides of the picture as it is shown, turned and stretched as the file says. */
  shown: { width: number; height: number }
  /** Its length in seconds. */
  seconds: number
  /** How far its length may be off, where what is made of it depends on how it is read. */
  secondsOff?: number
  /** Frames a second, as a fraction; left out where they are not constant, or may become others. */
  rate?: string
  /** Its sound; null without sound. */
  sound: { channels: number } | null
  /** Where its corners are to be seen; null where they cannot be told. */
  corners: Corners | null
  /** How far a corner's color may be off, of 255. */
  colorOff?: number
  /** Whether the picture turns white when the click is heard; true by default. */
  flashes?: boolean
  /** Whether two fields are in each of its frames. */
  isInterlaced?: boolean
  /** Codes of the warnings that its job has. */
  warnings?: readonly string[]
  /** The code of the failure that its job ends with; left out where it has renditions. */
  fails?: string
}

export const UPRIGHT: Corners = ["red", "green", "blue", "gray"]

/** Corners of an upright picture that is turned by quarters, clockwise. */
export function turned(quarters: number): Corners {
  if (quarters === 0) return UPRIGHT
  const [topLeft, topRight, bottomLeft, bottomRight] = turned(quarters - 1)
  return [bottomLeft, topLeft, bottomRight, topRight]
}
