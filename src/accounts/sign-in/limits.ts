/** Minimum and maximum length of a password, in characters. */
export const PASSWORD_LENGTH_RANGE = { min: 10, max: 128 }

/** Maximum length of an email address in SMTP (RFC 5321). */
export const EMAIL_LENGTH_MAX = 254

/**
 * Length of the window in which requests of a client network are counted, from the first request,
 * in milliseconds.
 */
export const AUTH_RATE_LIMIT_WINDOW_MS = 60_000

/**
 * Routes of better-auth that this service serves below AUTH_PATH; all others are closed.
 * `requestsMax` is the number of requests that one IPv4 address or IPv6 /64 may make in a window.
 * The number is low for routes that check a password, send a mail or store rows.
 */
export const AUTH_ROUTES = [
  { method: "GET", path: "/callback/:provider", requestsMax: 20 },
  { method: "POST", path: "/change-email", requestsMax: 5 },
  { method: "POST", path: "/change-password", requestsMax: 10 },
  { method: "POST", path: "/confirm-email", requestsMax: 10 },
  { method: "POST", path: "/confirm-email-change", requestsMax: 10 },
  { method: "POST", path: "/delete-user", requestsMax: 10 },
  { method: "POST", path: "/request-password-reset", requestsMax: 5 },
  { method: "POST", path: "/reset-password", requestsMax: 10 },
  { method: "POST", path: "/revoke-other-sessions", requestsMax: 20 },
  { method: "POST", path: "/revoke-session", requestsMax: 20 },
  { method: "POST", path: "/send-verification-email", requestsMax: 5 },
  { method: "POST", path: "/sign-in/email", requestsMax: 10 },
  { method: "POST", path: "/sign-in/social", requestsMax: 20 },
  { method: "POST", path: "/sign-out", requestsMax: 20 },
  { method: "POST", path: "/sign-up/email", requestsMax: 3 },
] as const

export type AuthRoute = (typeof AUTH_ROUTES)[number]

/** Returns the sign-in route of a path below AUTH_PATH; null for a path that is not served. */
export function findAuthRoute(method: string, path: string): AuthRoute | null {
  const pattern = path.startsWith("/callback/") ? "/callback/:provider" : path
  return AUTH_ROUTES.find((route) => route.method === method && route.path === pattern) ?? null
}
