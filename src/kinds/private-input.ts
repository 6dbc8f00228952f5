import { z } from "zod"
import {
  HEADERS_BYTES_MAX,
  HEADERS_MAX,
  validatePrivateHeaders,
} from "../contract/urls/private-headers.ts"
import type { PrivateHeaders } from "../contract/urls/private-headers.ts"
import { IMPORT_URL_LENGTH_MAX } from "./import-url.ts"

/** URL of a file, with the request headers that the server of the file requires. */
export type PrivateInput = { url: string; headers: Record<string, string> }

/** Value of a request field that names an input: a text, or a URL with headers. */
export type InputValue = string | PrivateInput

/** Returns the text of an input without the headers, which records never show. */
export function getInputUrl(input: InputValue): string {
  return typeof input === "string" ? input : input.url
}

/** Returns the headers of an input; null if the input has no headers. */
export function getInputHeaders(input: InputValue): PrivateHeaders | null {
  return typeof input === "string" ? null : Object.entries(input.headers)
}

/** Returns the path of the field with the text: `field`, or `field.url` with headers. */
export function inputUrlField(field: string, input: InputValue): string {
  return typeof input === "string" ? field : `${field}.url`
}

/** Returns the schema of the text of an input; `expected` is the error for any other type. */
export function inputTextSchema(expected: string) {
  return z
    .string(expected)
    .max(IMPORT_URL_LENGTH_MAX, `expected at most ${IMPORT_URL_LENGTH_MAX} characters`)
}

export const HEADERS_OPENAPI_SCHEMA = {
  type: "object" as const,
  minProperties: 1,
  maxProperties: HEADERS_MAX,
  additionalProperties: { type: "string" as const },
  description: `At most ${HEADERS_MAX} headers of together ${HEADERS_BYTES_MAX} bytes. The origin of the URL alone gets them; they are never shown, and are kept until the file is there.`,
}

/** Schema of the headers of an input. The errors never quote a value, which may be secret. */
export const inputHeadersSchema = z
  .custom<PrivateInput["headers"]>()
  .meta({ override: HEADERS_OPENAPI_SCHEMA })
  .superRefine((headers, context) => {
    for (const { name, message } of validatePrivateHeaders(headers)) {
      context.addIssue({ code: "custom", path: name === null ? [] : [name], message })
    }
  })

const privateFields = z.strictObject({
  url: inputTextSchema("expected a URL"),
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
    // A union reports the issues of its only alternative without a fatal issue.
    for (const issue of privateFields.safeParse(input).error?.issues ?? []) {
      context.addIssue({ ...issue, continue: true })
    }
  })
  .meta({ id: PRIVATE_INPUT })

/**
 * Returns the schema of a field that names an input by a text, or by the URL of a file with
 * headers; `expected` is the error for any other type.
 */
export function inputValueSchema(text: z.ZodString, expected: string) {
  return z.union([text, privateInput], expected)
}

/** OpenAPI schema of an input, for a map whose schema sets `additionalProperties` explicitly. */
export const INPUT_OPENAPI_SCHEMA = {
  anyOf: [
    { type: "string", maxLength: IMPORT_URL_LENGTH_MAX },
    { $ref: `#/components/schemas/${PRIVATE_INPUT}` },
  ],
}

/** Schema of an input in an invalid body; accepts texts of any length. */
export const usableInputSchema = z.union([z.string(), privateInput])
