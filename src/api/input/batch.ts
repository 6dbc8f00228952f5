import { z } from "zod"
import { BATCH_JOBS_MAX } from "../../domain/batch.ts"
import type { Fault } from "../../domain/faults.ts"
import type { JobDraft } from "../../domain/job-draft.ts"
import { boundedMapSchema } from "../../kinds/bounded-map.ts"
import { commonRequestFieldSchemas } from "../../kinds/create-fields.ts"
import { findComplexityFault } from "../../kinds/command/complexity.ts"
import type { CommandFieldText } from "../../kinds/command/complexity.ts"
import { fileImportRequestSchema } from "../../kinds/file/request.ts"
import { fileKind } from "../../kinds/file/kind.ts"
import type { CommonRequestFields, JsonKind } from "../../kinds/kind.ts"
import type { JobWithOutputs } from "../../kinds/output-references.ts"
import {
  EXAMPLE_INPUT_REFERENCE,
  JOB_NAME_PATTERN,
  formatOutputReference,
} from "../../kinds/reference.ts"
import { JSON_KINDS } from "../../kinds/registry.ts"
import { findNearestName } from "../../hints/nearest-name.ts"
import type { InputIds, InputRows } from "../../db/files/input-files.ts"
import type { AppContext } from "../context.ts"
import { replaceMisspelledBodyFields, draftJobOrFaults, validateOtherFields } from "./accept.ts"
import { draftImportOrFaults } from "./draft-import.ts"
import { invalidFieldsProblem } from "../output/problem.ts"
import { makeSchemaReference } from "../output/schema-reference.ts"
import { readInputReferences } from "./resolve-inputs.ts"
import { anyObjectSchema, safeParseBody } from "./request.ts"

const { webhook, metadata, expires_in } = commonRequestFieldSchemas

const EXPECTED_NAME =
  "expected a name of at most 32 characters: a small letter, then small letters, digits, _ and -"

/** OpenAPI references to the schemas of create requests, by the collection's path. */
const BODY_SCHEMAS = {
  [fileKind.path]: makeSchemaReference(fileImportRequestSchema),
  ...Object.fromEntries(
    JSON_KINDS.map((kind) => [
      kind.path,
      kind.withTypes(({ request }) => makeSchemaReference(request)),
    ]),
  ),
}

/**
 * Schema of the body of POST /batches. The schema of each job's kind validates the job's body
 * later.
 */
export const batchRequestSchema = z
  .strictObject(
    {
      jobs: boundedMapSchema(z.string(), anyObjectSchema, {
        most: BATCH_JOBS_MAX,
        error: 'expected an object of jobs by name, as {"level": {"normalize": {…}}}',
        tooMany: `expected at most ${BATCH_JOBS_MAX} jobs`,
      })
        .refine((map) => Object.keys(map).length > 0, "expected at least one job")
        .meta({
          description:
            "Jobs by name. Each has one member: the path of a collection, with the body that a POST to it takes. An input names an output of another job of the batch as `svc_id://<name>/<output>`.",
          minProperties: 1,
          propertyNames: { type: "string", pattern: JOB_NAME_PATTERN.source },
          additionalProperties: {
            type: "object",
            minProperties: 1,
            maxProperties: 1,
            properties: BODY_SCHEMAS,
            additionalProperties: false,
          },
        }),
      webhook: webhook.meta({
        description: "An http or https URL that receives a POST request when the last job ends.",
      }),
      metadata,
      expires_in: expires_in.meta({
        description:
          "Seconds from the end of the batch to its removal; also the value of each job that sets none.",
      }),
    },
    "expected an object of fields",
  )
  .meta({ id: "BatchRequest" })

export type BatchRequest = z.infer<typeof batchRequestSchema>

export const BATCH_EXAMPLE = {
  jobs: {
    level: { normalize: { file_url: EXAMPLE_INPUT_REFERENCE } },
    sound: {
      commands: {
        ffmpeg_command: "ffmpeg -i {{in_1}} -vn -c:a libmp3lame {{out_1}}",
        input_files: { in_1: formatOutputReference("level", "file") },
        output_files: { out_1: "sound.mp3" },
      },
    },
  },
}

/**
 * Reference of a job to an output of another job of the batch: the name of that other job, and the
 * request field that contains the reference.
 */
type NeededName = { name: string; field: string }

/**
 * Files and outputs to which inputs of a batch may refer: those in the account's D1 rows (`rows`),
 * and outputs of other jobs of the same batch (`batchJobs`).
 */
type BatchOutputs = { rows: InputRows; batchJobs: ReadonlyMap<string, JobWithOutputs | null> }

/**
 * Create request for one job of a batch: the references of the job's inputs, and the function that
 * drafts the job (prepares its rows without storing them).
 */
export type BatchItem = {
  name: string
  needs: NeededName[]
  ids: InputIds
  draft: (found: BatchOutputs) => Promise<{ draft: JobDraft } | { faults: Fault[] }>
}

/**
 * Parsed batch: the names of all jobs, the well-formed create requests, and the faults of the
 * malformed create requests.
 */
export type ParsedBatch = { names: string[]; items: BatchItem[]; faults: Fault[] }

/**
 * Reads the create requests of a batch. Faults name fields by their path in the whole body. Throws
 * 422 if all commands together would take too long to check.
 */
export function readBatchItems(
  c: AppContext,
  { jobs, expires_in: retention }: BatchRequest,
): ParsedBatch {
  const complexity = findComplexityFault(Object.entries(jobs).flatMap(listTexts))
  if (complexity) throw invalidFieldsProblem([complexity])
  const items: BatchItem[] = []
  const faults: Fault[] = []
  for (const [name, create] of Object.entries(jobs)) {
    const field = `jobs.${name}`
    const [[path, body] = [""], ...others] = Object.entries(create)
    if (!JOB_NAME_PATTERN.test(name)) faults.push({ field, message: EXPECTED_NAME })
    else if (others.length > 0 || !PATHS.includes(path)) {
      faults.push({ field, message: describeMember(path, others.length > 0) })
    } else {
      const checked = anyObjectSchema.safeParse(body)
      if (checked.success) {
        const own = typeof retention === "number" ? { expires_in: retention } : {}
        items.push(readItem(c, name, path, { ...own, ...checked.data }))
      } else faults.push({ field: `${field}.${path}`, message: "expected an object of fields" })
    }
  }
  return { names: Object.keys(jobs), items, faults }
}

/**
 * Returns the text values of one job in a batch, such as its FFmpeg command, with their field
 * paths.
 */
function listTexts([name, create]: [name: string, create: object]): CommandFieldText[] {
  return Object.values(create)
    .flatMap((body) => Object.entries(anyObjectSchema.catch({}).parse(body)))
    .flatMap(([field, value]) => {
      const texts = [value].flat().filter((text) => typeof text === "string")
      return texts.map((text) => ({ field: `jobs.${name}.${field}`, text }))
    })
}

/** Collection paths that a job of a batch may name, such as `commands`. */
const PATHS = Object.keys(BODY_SCHEMAS)

function describeMember(path: string, isMany: boolean): string {
  const expected = `expected one member, the path of a collection with the body of a POST to it; the paths are ${PATHS.join(", ")}`
  if (isMany) return `${expected}; the job has several`
  const nearest = findNearestName(path, PATHS)
  return nearest === null ? expected : `${expected}; did you mean \`${nearest}\`?`
}

function readItem(c: AppContext, name: string, path: string, body: object): BatchItem {
  const kind = JSON_KINDS.find((each) => each.path === path)
  return kind ? kind.withTypes((typed) => readKindItem(c, name, typed, body)) : readImport()

  function readImport(): BatchItem {
    const checked = safeParseBody(fileImportRequestSchema, body)
    return {
      name,
      needs: [],
      ids: { fileIds: [], jobIds: [] },
      draft: async () => {
        return "faults" in checked ? checked : draftImportOrFaults(c, checked.data)
      },
    }
  }
}

function readKindItem<Input extends CommonRequestFields, Usable>(
  c: AppContext,
  name: string,
  kind: JsonKind<Input, Usable>,
  body: object,
): BatchItem {
  const checked = safeParseBody(kind.request, body)
  const corrected =
    "data" in checked ? checked.data : replaceMisspelledBodyFields(checked, { body })
  const read = readInputReferences(c, kind, { body: corrected })
  return {
    name,
    ids: read.ids,
    needs: read.references.flatMap((each) => {
      return "jobName" in each ? [{ name: each.jobName, field: each.field }] : []
    }),
    async draft(found) {
      if ("data" in checked) {
        return await draftJobOrFaults(c, kind, checked.data, { body, read, ...found })
      }
      const request = { body: corrected, read, ...found }
      return { faults: (await validateOtherFields(c, kind, request, checked.faults)).faults }
    },
  }
}
