/** Media types by which files are told otherwise than by the package `mime`, with their extensions. */
export const OWN_MEDIA_TYPES = { "audio/flac": ["flac"] }
