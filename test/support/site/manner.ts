import { z } from "zod"

const count = z.coerce.number().int().nonnegative().optional()

/**
 * How an address is to answer, as parameters of its query. Those of trouble (`status`, `cut`,
 * `stall`, `head`) hold for the first `times` requests of the very same address, or always.
 */
const manner = z.object({
  /** Content-Type; empty for none. */
  type: z.string().optional(),
  /** Content-Disposition, as UTF-8. */
  disposition: z.string().optional(),
  /** Whether ranges are served: `no` sends all, `wrong` another range than was asked for. */
  range: z.enum(["yes", "no", "wrong"]).default("yes"),
  /** `changing` is another one, of other bytes, at each request. */
  etag: z.enum(["strong", "weak", "none", "changing"]).default("strong"),
  /** Last-Modified. */
  modified: z.enum(["yes", "no"]).default("yes"),
  /** Content-Length as it is said; `none` for chunks, `close` for neither. */
  length: z.union([z.enum(["none", "close"]), z.coerce.number().int().nonnegative()]).optional(),
  /** Content-Encoding; `false-gzip` says gzip of what is none, `unknown` one that nobody knows. */
  encoding: z.enum(["gzip", "br", "deflate", "false-gzip", "unknown"]).optional(),
  /** Bytes a second. */
  rate: count,
  times: count,
  status: count,
  /** Retry-After, beside a status. */
  "retry-after": z.string().optional(),
  /** Bytes of the body after which the connection ends. */
  cut: count,
  /** Bytes of the body after which nothing more comes. */
  stall: count,
  /** Milliseconds until the head of the answer. */
  head: count,
})

export type Manner = z.infer<typeof manner>

const NO_TROUBLE = { status: undefined, cut: undefined, stall: undefined, head: undefined }

/** The manner of a request whose address was asked for so many times before. */
export function readManner(url: URL, timesBefore: number): Manner {
  const said = manner.parse(Object.fromEntries(url.searchParams))
  return said.times !== undefined && timesBefore >= said.times ? { ...said, ...NO_TROUBLE } : said
}
