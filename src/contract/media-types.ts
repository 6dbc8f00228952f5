/** File extensions by media type, which replace those of the npm package `mime`. */
export const MEDIA_TYPE_OVERRIDES = {
  "audio/flac": ["flac"],
  // No media type exists for files of raw audio samples or pixels, which have no header.
  "application/octet-stream": ["bin", "rgb"],
}
