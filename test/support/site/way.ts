/**
 * Format of a response body with a link that clients follow, such as a page with a video or a
 * playlist with a segment.
 */
export type LinkingBody = {
  type: string
  /** Returns the body with this URL as the link's target. */
  write: (to: string) => string
}
