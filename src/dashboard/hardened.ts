import { secureHeaders } from "hono/secure-headers"

/** Headers of every page: no script, style or frame but this service's own. */
export const hardened = secureHeaders({
  contentSecurityPolicy: {
    defaultSrc: ["'none'"],
    scriptSrc: ["'self'"],
    styleSrc: ["'self'"],
    imgSrc: ["'self'", "data:"],
    mediaSrc: ["'self'"],
    connectSrc: ["'self'"],
    formAction: ["'self'"],
    frameAncestors: ["'none'"],
    baseUri: ["'none'"],
  },
  xFrameOptions: "DENY",
  // Other hosts of the domain are not this service's to speak for.
  strictTransportSecurity: "max-age=15552000",
  // With "no-referrer" browsers send forms without the origin that they come from.
  referrerPolicy: "same-origin",
})
