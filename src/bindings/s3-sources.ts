import { z } from "zod"
import { getUrlPort, parseWebUrl } from "../contract/urls/user-url.ts"

const DEFAULT_REGION = "us-east-1"
const EXPECTED_LIST =
  "expected a JSON list of objects with bucket, endpoint, region, access_key_id and secret_access_key"

const word = z
  .string("expected a string")
  .regex(/^[\x21-\x7e]+$/, "expected a string of printable ASCII, without spaces")

/** Schema of an S3 bucket that inputs may be read from, with its endpoint and credentials. */
const s3Source = z.strictObject(
  {
    bucket: z
      .string("expected a string")
      .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{1,254}$/, "expected the name of a bucket"),
    /** URL of the S3 service. Requests append the bucket as the first segment of the path. */
    endpoint: z
      .string("expected a string")
      .refine(isEndpoint, "expected an http or https URL without user, query and fragment"),
    region: word.default(DEFAULT_REGION),
    access_key_id: word,
    secret_access_key: word,
  },
  { error: describeEntry },
)

export type S3Source = z.infer<typeof s3Source>

const s3SourceList = z.array(s3Source, EXPECTED_LIST).superRefine((sources, context) => {
  const names = sources.map(({ bucket }) => bucket)
  const index = names.findIndex((name, at) => names.indexOf(name) !== at)
  if (index === -1) return
  const message = "expected each bucket once; an earlier entry has the same bucket"
  context.addIssue({ code: "custom", path: [index, "bucket"], message })
})

/**
 * Schema of the setting S3_SOURCES, a JSON list. Error messages of the schema contain no values of
 * the setting.
 */
export const s3SourcesSchema = z
  .string()
  .transform((text, context) => {
    try {
      const value: unknown = text.trim() === "" ? [] : JSON.parse(text)
      return value
    } catch {
      // The message of JSON.parse would quote the setting, which contains secrets.
      context.addIssue({ code: "custom", message: `${EXPECTED_LIST}; the value is not JSON` })
      return z.NEVER
    }
  })
  .pipe(s3SourceList)

/**
 * Parses the setting S3_SOURCES. Throws an Error for an invalid setting, without quoting the
 * setting.
 */
export function readS3Sources(text: string | undefined): readonly S3Source[] {
  const { data, error } = s3SourcesSchema.safeParse(text ?? "")
  if (error) throw new Error(`S3_SOURCES: ${describeS3Issue(error)}.`)
  return data
}

/** Describes the first error in the setting S3_SOURCES by the entry and field of the error. */
export function describeS3Issue({ issues: [issue] }: z.ZodError): string {
  const [index, ...field] = issue?.path ?? []
  if (index === undefined) return issue?.message ?? EXPECTED_LIST
  return [`entry ${Number(index) + 1}`, ...field.map(String), issue?.message].join(": ")
}

/** Returns the hosts of the S3 services as `host:port`. */
export function listS3Hosts(sources: readonly S3Source[]): string[] {
  return sources.map(({ endpoint }) => {
    const url = new URL(endpoint)
    return `${url.hostname.toLowerCase()}:${getUrlPort(url)}`
  })
}

function isEndpoint(text: string): boolean {
  const url = parseWebUrl(text)
  return url !== null && url.username === "" && url.password === "" && !/[?#]/.test(text)
}

/**
 * Describes an invalid entry of S3_SOURCES. Quotes the name of an unknown field only if the name
 * cannot be a misplaced secret.
 */
function describeEntry(issue: z.core.$ZodRawIssue): string {
  if (issue.code !== "unrecognized_keys") return "expected an object of fields"
  const fieldNames = issue.keys.filter((key) => /^[a-z_]{1,40}$/.test(key))
  return fieldNames.length > 0
    ? `unknown field ${fieldNames.join(", ")}`
    : "the entry has an unknown field"
}
