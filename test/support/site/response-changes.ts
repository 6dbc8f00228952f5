import { z } from "zod"

const count = z.coerce.number().int().nonnegative().optional()

/**
 * Schema of the query parameters that change a response. The faults `status`, `cut`, `stall` and
 * `head` apply to the first `times` requests of the same URL, or to all requests if `times` is not
 * set.
 */
const manner = z.object({
  /** Value of Content-Type; empty for no such header. */
  type: z.string().optional(),
  /** Value of Content-Disposition in UTF-8. */
  disposition: z.string().optional(),
  /** Support of range requests: `no` sends the whole content, and `wrong` sends another range. */
  range: z.enum(["yes", "no", "wrong"]).default("yes"),
  /** Form of the ETag. With `changing`, each response has a different ETag. */
  etag: z.enum(["strong", "weak", "none", "changing"]).default("strong"),
  /** Whether the response has Last-Modified. */
  modified: z.enum(["yes", "no"]).default("yes"),
  /**
   * Value of Content-Length. `none` sends the body in chunks, and `close` ends the body by closing
   * the connection.
   */
  length: z.union([z.enum(["none", "close"]), z.coerce.number().int().nonnegative()]).optional(),
  /**
   * Value of Content-Encoding. With `false-gzip` the body is not compressed; `unknown` is no valid
   * encoding.
   */
  encoding: z.enum(["gzip", "br", "deflate", "false-gzip", "unknown"]).optional(),
  /** Maximum rate of the body, in bytes per second. */
  rate: count,
  times: count,
  status: count,
  /** Value of Retry-After in a response with `status`. */
  "retry-after": z.string().optional(),
  /** Number of bytes of the body after which the connection is closed. */
  cut: count,
  /** Number of bytes of the body after which nothing more is sent. */
  stall: count,
  /** Delay before the headers are sent, in milliseconds. */
  head: count,
})

export type ResponseChanges = z.infer<typeof manner>

const NO_TROUBLE = { status: undefined, cut: undefined, stall: undefined, head: undefined }

/**
 * Reads the query parameters of a request. `timesBefore` is the number of earlier requests of the
 * URL.
 */
export function readResponseChanges(url: URL, timesBefore: number): ResponseChanges {
  const said = manner.parse(Object.fromEntries(url.searchParams))
  return said.times !== undefined && timesBefore >= said.times ? { ...said, ...NO_TROUBLE } : said
}
