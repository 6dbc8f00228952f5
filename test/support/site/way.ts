/** Format of a response body that leads a client to a URL. */
export type LinkingBody = {
  type: string
  /** Returns the body with the URL. */
  write: (to: string) => string
}
