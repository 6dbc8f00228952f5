import { secureHeaders } from "hono/secure-headers"

type Policy = NonNullable<NonNullable<Parameters<typeof secureHeaders>[0]>["contentSecurityPolicy"]>

/** Returns security headers of a page: a CSP that allows only `sources`, and no framing. */
export function pageHeaders(sources: Policy) {
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
    // With "no-referrer", browsers send forms with `Origin: null`.
    referrerPolicy: "same-origin",
  })
}
