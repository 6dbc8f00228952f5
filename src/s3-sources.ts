import { z } from "zod"
import { portOf, readWebUrl } from "./contract/user-url.ts"

const DEFAULT_REGION = "us-east-1"
const EXPECTED_LIST =
  "expected a JSON list of objects with bucket, endpoint, region, access_key_id and secret_access_key"

const word = z
  .string("expected a text")
  .regex(/^[\x21-\x7e]+$/, "expected a text of printable ASCII, without spaces")

/** A bucket that inputs may be read from, and how. */
const s3Source = z.strictObject(
  {
    bucket: z
      .string("expected a text")
      .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{1,254}$/, "expected the name of a bucket"),
    /** Where the store answers; the bucket is the first segment of the path behind it. */
    endpoint: z
      .string("expected a text")
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
  const message = "expected each bucket once, and an entry before has the same"
  context.addIssue({ code: "custom", path: [index, "bucket"], message })
})

/** The setting S3_SOURCES: a JSON list; what is wrong with it is said without its values. */
export const s3Sources = z
  .string()
  .transform((text, context) => {
    try {
      const value: unknown = text.trim() === "" ? [] : JSON.parse(text)
      return value
    } catch {
      // The parser's own words show what it read.
      context.addIssue({ code: "custom", message: `${EXPECTED_LIST}, and it is no JSON` })
      return z.NEVER
    }
  })
  .pipe(s3SourceList)

/** The buckets of the setting; throws an Error that shows nothing of it where it is malformed. */
export function readS3Sources(text: string | undefined): readonly S3Source[] {
  const { data, error } = s3Sources.safeParse(text ?? "")
  if (error) throw new Error(`S3_SOURCES: ${describeS3Issue(error)}.`)
  return data
}

/** What is wrong with the setting first, with the entry and the field that it is wrong in. */
export function describeS3Issue({ issues: [issue] }: z.ZodError): string {
  const [index, ...field] = issue?.path ?? []
  if (index === undefined) return issue?.message ?? EXPECTED_LIST
  return [`entry ${Number(index) + 1}`, ...field.map(String), issue?.message].join(": ")
}

/** Hosts of the stores, as `host:port`. */
export function hostsOfStores(sources: readonly S3Source[]): string[] {
  return sources.map(({ endpoint }) => {
    const url = new URL(endpoint)
    return `${url.hostname.toLowerCase()}:${portOf(url)}`
  })
}

function isEndpoint(text: string): boolean {
  const url = readWebUrl(text)
  return url !== null && url.username === "" && url.password === "" && !/[?#]/.test(text)
}

/** Names a field that an entry does not have, where that cannot be a secret that went astray. */
function describeEntry(issue: z.core.$ZodRawIssue): string {
  if (issue.code !== "unrecognized_keys") return "expected an object of fields"
  const known = issue.keys.filter((key) => /^[a-z_]{1,40}$/.test(key))
  return known.length > 0 ? `there is no field ${known.join(", ")}` : "it has a field that is none"
}
