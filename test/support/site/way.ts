/** How a body leads to a URL. */
export type Way = {
  type: string
  /** Returns the body for a URL. */
  write: (to: string) => string
}
