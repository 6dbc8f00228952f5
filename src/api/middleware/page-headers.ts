import { secureHeaders } from "hono/secure-headers"

type Policy = NonNullable<NonNullable<Parameters<typeof secureHeaders>[0]>["contentSecurityPolicy"]>

/**
 * Returns middleware that sets the security headers of HTML pages: a CSP that allows only
 * `sources`, and no framing.
 */
export function makePageSecurityHeaders(sources: Policy) {
  return secureHeaders({
    contentSecurityPolicy: {
      defaultSrc: ["'none'"],
      ...sources,
      frameAncestors: ["'none'"],
      baseUri: ["'none'"],
    },
    xFrameOptions: "DENY",
    // Omit includeSubDomains: other hosts of the domain may not use HTTPS.
    strictTransportSecurity: "max-age=15552000",
    // With the policy "no-referrer", browsers send forms with the header `Origin: null`.
    referrerPolicy: "same-origin",
  })
}
