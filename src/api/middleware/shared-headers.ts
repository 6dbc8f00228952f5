/** Security headers of every response of the service. */
export const SHARED_HEADERS = {
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
} as const
