/** Expected facts of an output; tests check only the given ones. */
export type Facts = {
  /** A format name of ffprobe. */
  format?: string
  /** Codecs of the streams in their order, by blanks. */
  codecs?: string
  /** Width and height of the first picture, as `80x60`. */
  size?: string
  seconds?: number
  /** Frames of the first picture stream, counted. */
  frames?: number
  pixels?: string
  /** Pictures a second, as `10/1`. */
  rate?: string
  /** Samples a second and channels of the first sound, as `44100 2`. */
  sound?: string
  tags?: Record<string, string>
  /** Languages of the streams that have one, by blanks. */
  languages?: string
  chapters?: number
  bytes?: number
  /** Text that it contains. */
  text?: string | RegExp
  /** Mean brightness of the first picture, between these, of 255. */
  luma?: [number, number]
  /** Mean volume, between these. */
  decibels?: [number, number]
  /** Names that a bundle has, each pattern at least once. */
  members?: RegExp[]
  memberCount?: number
  /** Whether the bundle's own link answers a ZIP of all of them. */
  isZip?: boolean
}

/** A command that a user may well send, and what must have come of it. */
export type Work = {
  name: string
  /** Fixtures by key. */
  inputs?: Record<string, string>
  outputs: Record<string, [name: string, facts: Facts]>
  /** A command line, or the lines of a sequence. */
  run: string | string[]
  /** Expected warnings; none by default. */
  warnings?: { code: string; message: string }[]
}
