/** How long a password may be. */
export const PASSWORD_CHARACTERS = { min: 10, max: 128 }

/** The longest address that SMTP knows (RFC 5321). */
export const EMAIL_LENGTH_MAX = 254

/** The window in which tries of an address are counted, which begins with the first of them. */
export const TRIES_WINDOW_MS = 60_000

/**
 * better-auth's routes that this service mounts, below AUTH_PATH, and how many requests of one address
 * (of one /64 of IPv6) each takes in a window. Each that checks a password, sends a mail or stores
 * rows takes few. Every other route of better-auth is closed.
 */
export const AUTH_ROUTES = [
  { method: "GET", path: "/callback/:provider", triesMax: 20 },
  { method: "POST", path: "/change-email", triesMax: 5 },
  { method: "POST", path: "/change-password", triesMax: 10 },
  { method: "POST", path: "/confirm-email", triesMax: 10 },
  { method: "POST", path: "/confirm-email-change", triesMax: 10 },
  { method: "POST", path: "/delete-user", triesMax: 10 },
  { method: "POST", path: "/request-password-reset", triesMax: 5 },
  { method: "POST", path: "/reset-password", triesMax: 10 },
  { method: "POST", path: "/revoke-other-sessions", triesMax: 20 },
  { method: "POST", path: "/revoke-session", triesMax: 20 },
  { method: "POST", path: "/send-verification-email", triesMax: 5 },
  { method: "POST", path: "/sign-in/email", triesMax: 10 },
  { method: "POST", path: "/sign-in/social", triesMax: 20 },
  { method: "POST", path: "/sign-out", triesMax: 20 },
  { method: "POST", path: "/sign-up/email", triesMax: 3 },
] as const

export type AuthRoute = (typeof AUTH_ROUTES)[number]

/** The route of a path below AUTH_PATH; null for a path that is not mounted. */
export function findAuthRoute(method: string, path: string): AuthRoute | null {
  const pattern = path.startsWith("/callback/") ? "/callback/:provider" : path
  return AUTH_ROUTES.find((route) => route.method === method && route.path === pattern) ?? null
}
