import { pageHeaders } from "../http/page-headers.ts"

/** Headers of every page of the dashboard: no script, style or frame but this service's own. */
export const hardened = pageHeaders({
  scriptSrc: ["'self'"],
  styleSrc: ["'self'"],
  imgSrc: ["'self'", "data:"],
  mediaSrc: ["'self'"],
  connectSrc: ["'self'"],
  formAction: ["'self'"],
})
