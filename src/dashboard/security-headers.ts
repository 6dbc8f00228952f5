import { makePageSecurityHeaders } from "../api/middleware/page-headers.ts"

/**
 * Middleware that sets the Content-Security-Policy of dashboard pages: scripts, styles, media and
 * forms only from this origin.
 */
export const setDashboardSecurityHeaders = makePageSecurityHeaders({
  scriptSrc: ["'self'"],
  styleSrc: ["'self'"],
  imgSrc: ["'self'", "data:"],
  mediaSrc: ["'self'"],
  connectSrc: ["'self'"],
  formAction: ["'self'"],
})
