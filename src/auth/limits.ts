import type { BetterAuthRateLimitOptions } from "better-auth/types"

/** How long a password may be. */
export const PASSWORD_CHARACTERS = { min: 10, max: 128 }

/**
 * Requests of one address (of one /64 of IPv6) to a route: so many, then none until the window has
 * passed without one. Each that checks a password or sends a mail has a rule of its own.
 */
export const SIGN_IN_LIMITS = {
  "/sign-in/email": { window: 60, max: 10 },
  "/sign-in/social": { window: 60, max: 20 },
  "/sign-up/email": { window: 60, max: 10 },
  "/request-password-reset": { window: 60, max: 5 },
  "/reset-password": { window: 60, max: 10 },
  "/send-verification-email": { window: 60, max: 5 },
  "/verify-email": { window: 60, max: 20 },
  "/change-password": { window: 60, max: 10 },
  "/change-email": { window: 60, max: 5 },
  "/delete-user": { window: 60, max: 10 },
  // Guesses of a session's token are hopeless, and each count is a write.
  "/get-session": false,
} satisfies BetterAuthRateLimitOptions["customRules"]
