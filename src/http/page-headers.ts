import { secureHeaders } from "hono/secure-headers"

type Policy = NonNullable<NonNullable<Parameters<typeof secureHeaders>[0]>["contentSecurityPolicy"]>

/**
 * Headers of a page: a content security policy that allows what `sources` lists and nothing else,
 * and no frame of any site around it.
 */
export function pageHeaders(sources: Policy) {
  return secureHeaders({
    contentSecurityPolicy: {
      defaultSrc: ["'none'"],
      ...sources,
      frameAncestors: ["'none'"],
      baseUri: ["'none'"],
    },
    xFrameOptions: "DENY",
    // Other hosts of the domain are not this service's to speak for.
    strictTransportSecurity: "max-age=15552000",
    // With "no-referrer" browsers send forms without the origin that they come from.
    referrerPolicy: "same-origin",
  })
}
