/** Whoever does short work of the film, so that each can be measured in the same way. */
export type Contender = {
  /** Learns what ffprobe says of the film, from its upload on where there is one. */
  probe: () => Promise<void>
  /** Has the film's streams copied into another mp4, from its upload on, and reads the new file. */
  remux: () => Promise<void>
  /** The same of the film that is there already; null where no file stays. */
  remuxStored: (() => Promise<void>) | null
}

/** The words of ffmpeg between input and output of a remux. */
export const REMUX_WORDS = ["-c", "copy"]
