const EXACT_FORMATS = /^(?:mov|matroska|wav|w64|aiff|caf|flac|ogg)(?:,|$)/

/** Whether files of a format, as ffprobe names it, say in a header or an index how long they last. */
export function hasExactLength(format: string): boolean {
  return EXACT_FORMATS.test(format)
}
