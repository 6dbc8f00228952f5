import { z } from "zod"
import {
  PRIVATE_HEADERS_BYTES_MAX,
  PRIVATE_HEADERS_MAX,
  findPrivateHeaderFaults,
} from "../contract/urls/private-headers.ts"
import type { PrivateHeaders } from "../contract/urls/private-headers.ts"
import { IMPORT_URL_LENGTH_MAX } from "./import-url.ts"

/** URL of a file, with the request headers that the file's server requires. */
export type PrivateInput = { url: string; headers: Record<string, string> }

/** Value of a request field that names an input: a text, or a URL with request headers. */
export type InputValue = string | PrivateInput

/**
 * Returns the URL or file id of an input without the HTTP headers for its download, which records
 * of jobs never show.
 */
export function getInputUrl(input: InputValue): string {
  return typeof input === "string" ? input : input.url
}

/** Returns the headers of an input; null for an input without headers. */
export function getInputHeaders(input: InputValue): PrivateHeaders | null {
  return typeof input === "string" ? null : Object.entries(input.headers)
}

/**
 * Returns the path of the request field with an input's text: `field`, or `field.url` if the input
 * has headers.
 */
export function inputUrlFieldPath(field: string, input: InputValue): string {
  return typeof input === "string" ? field : `${field}.url`
}

/**
 * Returns the schema of an input without headers, which is a text. `expected` is the error message
 * for any other type.
 */
export function makeInputTextSchema(expected: string) {
  return z
    .string(expected)
    .max(IMPORT_URL_LENGTH_MAX, `expected at most ${IMPORT_URL_LENGTH_MAX} characters`)
}

export const HEADERS_OPENAPI_SCHEMA = {
  type: "object" as const,
  minProperties: 1,
  maxProperties: PRIVATE_HEADERS_MAX,
  additionalProperties: { type: "string" as const },
  description: `At most ${PRIVATE_HEADERS_MAX} headers of together ${PRIVATE_HEADERS_BYTES_MAX} bytes. The origin of the URL alone gets them; they are never shown, and are kept until the file is there.`,
}

/**
 * Schema of the request headers for an input. The errors never quote a header value, which may be
 * secret.
 */
export const inputHeadersSchema = z
  .custom<PrivateInput["headers"]>()
  .meta({ override: HEADERS_OPENAPI_SCHEMA })
  .superRefine((headers, context) => {
    for (const { name, message } of findPrivateHeaderFaults(headers)) {
      context.addIssue({ code: "custom", path: name === null ? [] : [name], message })
    }
  })

const privateFields = z.strictObject({
  url: makeInputTextSchema("expected a URL"),
  headers: inputHeadersSchema,
})

const PRIVATE_INPUT = "PrivateInput"

const privateInput = z
  .custom<PrivateInput>((value) => value instanceof Object && "headers" in value)
  .meta({
    override: {
      type: "object",
      description: "The https URL of a file, which its server sends only with these headers.",
      properties: {
        url: { type: "string", format: "uri", maxLength: IMPORT_URL_LENGTH_MAX },
        headers: HEADERS_OPENAPI_SCHEMA,
      },
      required: ["url", "headers"],
      additionalProperties: false,
    },
  })
  .superRefine((input, context) => {
    // `continue: true` makes the issues non-fatal. A zod union reports the issues of its single
    // matching alternative only if they are not fatal.
    for (const issue of privateFields.safeParse(input).error?.issues ?? []) {
      context.addIssue({ ...issue, continue: true })
    }
  })
  .meta({ id: PRIVATE_INPUT })

/**
 * Returns the schema of a field that names an input by a text, or by the URL of a file with request
 * headers. `expected` is the error message for any other type.
 */
export function makeInputValueSchema(text: z.ZodString, expected: string) {
  return z.union([text, privateInput], expected)
}

/**
 * OpenAPI schema of an input, for maps of inputs whose schema sets `additionalProperties`
 * explicitly.
 */
export const INPUT_OPENAPI_SCHEMA = {
  anyOf: [
    { type: "string", maxLength: IMPORT_URL_LENGTH_MAX },
    { $ref: `#/components/schemas/${PRIVATE_INPUT}` },
  ],
}

/** Schema of an input in a body that may be invalid. The schema accepts texts of any length. */
export const lenientInputSchema = z.union([z.string(), privateInput])
