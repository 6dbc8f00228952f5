/** File extensions by media type, where the service deviates from the npm package `mime`. */
export const MEDIA_TYPE_OVERRIDES = {
  "audio/flac": ["flac"],
  // Raw audio samples or pixels, without a header.
  "application/octet-stream": ["bin", "rgb"],
}
