import { z } from "zod"

/**
 * HTTP headers that a caller sends with the URL of an input: a list of name and value pairs, in
 * which each name occurs once.
 */
export const privateHeadersSchema = z.array(z.tuple([z.string(), z.string()]))

export type PrivateHeaders = z.infer<typeof privateHeadersSchema>

export const PRIVATE_HEADERS_MAX = 10
export const PRIVATE_HEADERS_BYTES_MAX = 4096

/** Matches a header name, which RFC 9110 defines as a token. */
const NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/

/**
 * Matches headers that the HTTP client of a download sets, so that API clients must not set them.
 */
const RESERVED =
  /^(?:accept-encoding|connection|expect|host|http2-settings|keep-alive|range|te|trailer|transfer-encoding|upgrade|(?:content|if|proxy)-.*)$/i

/**
 * Matches a header value of ASCII characters. Other characters are refused, because servers
 * disagree on their encoding.
 */
const VALUE = /^[\t\u0020-\u007e]*$/

/**
 * Fault of one header, or of all headers if `name` is null. The message never quotes a header
 * value, because values may be secret.
 */
export type HeaderFault = { name: string | null; message: string }

/**
 * Returns the faults of the headers that a request sends with a URL. Valid headers are an object
 * with header names as keys; any other value is a fault.
 */
export function findPrivateHeaderFaults(headers: unknown): HeaderFault[] {
  if (typeof headers !== "object" || headers === null || Array.isArray(headers)) {
    return [
      { name: null, message: 'expected an object of strings, as {"Authorization": "Bearer …"}' },
    ]
  }
  const given: [string, unknown][] = Object.entries(headers)
  if (given.length === 0) {
    return [
      {
        name: null,
        message: "expected at least one header; without headers, write the URL as a string",
      },
    ]
  }
  if (given.length > PRIVATE_HEADERS_MAX) {
    const message = `expected at most ${PRIVATE_HEADERS_MAX} headers, and there are ${given.length}`
    return [{ name: null, message }]
  }
  const bytes = given.reduce((sum, [name, value]) => sum + bytesOf(name) + bytesOf(value), 0)
  if (bytes > PRIVATE_HEADERS_BYTES_MAX) {
    const message = `expected at most ${PRIVATE_HEADERS_BYTES_MAX} bytes of names and values together, and there are ${bytes}`
    return [{ name: null, message }]
  }
  const names = given.map(([name]) => name.toLowerCase())
  return given.flatMap(([name, value], index) => {
    const isSecond = names.indexOf(name.toLowerCase()) < index
    return judgeHeader(name, value, { number: index + 1, isSecond }) ?? []
  })
}

function judgeHeader(
  name: string,
  value: unknown,
  { number, isSecond }: { number: number; isSecond: boolean },
): HeaderFault | null {
  if (!NAME.test(name)) {
    const message = `the name of header ${number} is invalid: expected letters, digits and signs such as -, without blanks`
    return { name: null, message }
  }
  if (RESERVED.test(name)) {
    const message = "this header is not allowed, because the download or its connection sets it"
    return { name, message }
  }
  if (isSecond)
    return { name, message: "the header exists twice, because names ignore letter case" }
  if (typeof value !== "string") return { name, message: "expected a string" }
  if (VALUE.test(value)) return null
  return { name, message: "expected visible ASCII characters and blanks, without line breaks" }
}

function bytesOf(text: unknown): number {
  return typeof text === "string" ? new TextEncoder().encode(text).length : 0
}
