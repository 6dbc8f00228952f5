/** What every answer says, whichever route gave it. */
export const SHARED_HEADERS = {
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
} as const
