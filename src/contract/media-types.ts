/** File extensions by media type, where the service deviates from the npm package `mime`. */
export const MEDIA_TYPE_OVERRIDES = {
  "audio/flac": ["flac"],
  // Files of raw audio samples or pixels have no header and no media type of their own.
  "application/octet-stream": ["bin", "rgb"],
}
