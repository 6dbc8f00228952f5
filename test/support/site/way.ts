/** How a body leads to a URL. */
export type Way = {
  type: string
  /** What is sent, for a URL as it is written. */
  write: (to: string) => string
}
