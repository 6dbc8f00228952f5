import { z } from "zod"
import { readQueryParameters } from "../input/query.ts"
import { getBaseUrl, readPreferredWaitMs } from "../input/request.ts"
import type { AppContext } from "../context.ts"
import { emptyQuerySchema, defineOperation } from "./operation.ts"
import type { Operation } from "./operation.ts"
import { makeNextPageLinkHeader, toPageRequest, pageQuerySchema } from "./paging.ts"
import { notFoundProblem, Problem } from "./problem.ts"
import { describeMalformedId } from "../../hints/ids.ts"
import { EXAMPLE_ID, isId } from "../../platform/ids.ts"
import type { Kind } from "../../kinds/kind.ts"
import { RECORD_STATUSES } from "../../kinds/shared-record-fields.ts"
import { readProgress, readProgressOfJobs } from "../../jobs/wait.ts"
import type { Progress } from "../../domain/progress.ts"
import type { ListPageQuery } from "../../db/paging.ts"
import type { Job } from "../../db/schema/jobs.ts"

export const statusFilterSchema = z
  .enum(RECORD_STATUSES, `expected one of ${RECORD_STATUSES.join(", ")}`)
  .optional()

/** Collection of resources at one path below /v1. `Row` is the stored form of a resource. */
export type ResourceCollection<
  Row,
  Filters extends z.ZodRawShape,
  RecordSchema extends z.ZodType<object>,
> = {
  /** Path below /v1, without slashes. */
  path: string
  /** Singular noun for a resource in messages and operation ids. */
  title: string
  record: RecordSchema
  filters: z.ZodObject<Filters>
  list(c: AppContext, filters: z.output<z.ZodObject<Filters>>, page: ListPageQuery): Promise<Row[]>
  idOf(row: Row): string
  /** Returns the job whose progress the resource shows; null if the resource has no job. */
  jobOf(row: Row): Job | null
  /**
   * Finds a resource by id; null if no resource has the id. Waits up to `waitMs` for the end of the
   * resource's job.
   */
  find(c: AppContext, id: string, waitMs: number | null): Promise<Row | null>
  /**
   * Reads the large values of a row, which lists omit because R2 stores them. Undefined if rows
   * have no large values.
   */
  hydrate?(c: AppContext, row: Row): Promise<Row>
  view(c: AppContext, row: Row, progress: Progress | null): z.output<RecordSchema>
  remove(c: AppContext, row: Row): Promise<void>
}

/** Returns the operations of a collection of resources: list, get and delete. */
export function makeCollectionOperations<
  Row,
  Filters extends z.ZodRawShape,
  RecordSchema extends z.ZodType<object>,
>(collection: ResourceCollection<Row, Filters, RecordSchema>): Operation[] {
  return [listOperation(collection), getOperation(collection), deleteOperation(collection)]
}

function listOperation<Row, Filters extends z.ZodRawShape, RecordSchema extends z.ZodType<object>>(
  collection: ResourceCollection<Row, Filters, RecordSchema>,
): Operation {
  const { path, title, record, filters } = collection
  return defineOperation({
    method: "get",
    path: `/${path}`,
    operationId: `list${toPascalCase(toPlural(title))}`,
    summary: `List ${toPlural(title)}, newest first`,
    tag: path,
    query: pageQuerySchema.extend(filters.shape),
    answer: {
      status: 200,
      description: `A page of ${toPlural(title)}.`,
      schema: z.array(record),
      headers: { Link: "URL of the next page, if there may be one." },
    },
    example: { limit: "5" },
    async handle(c) {
      // Parse the raw query twice, by the filters and by the page schema, because neither schema
      // accepts values that the other has parsed.
      const { value } = readQueryParameters(filters, c)
      const page = toPageRequest(pageQuerySchema.parse(c.req.query()))
      const rows = await collection.list(c, filters.parse(value), page)
      const ids = rows.map((row) => ({ id: collection.idOf(row) }))
      const jobs = rows.flatMap((row) => collection.jobOf(row) ?? [])
      const progress = await readProgressOfJobs(c.env, jobs)
      return {
        body: rows.map((row) => {
          return collection.view(c, row, progress.get(collection.jobOf(row)?.id ?? "") ?? null)
        }),
        headers: makeNextPageLinkHeader(c, `/${path}`, page, ids),
      }
    },
  })
}

type MemberCollection<Row, RecordSchema extends z.ZodType<object>> = Pick<
  ResourceCollection<Row, z.ZodRawShape, RecordSchema>,
  "path" | "title" | "record" | "find" | "hydrate" | "jobOf" | "view" | "remove"
>

function getOperation<Row, RecordSchema extends z.ZodType<object>>(
  collection: MemberCollection<Row, RecordSchema>,
): Operation {
  const { path, title, record } = collection
  return defineOperation({
    method: "get",
    path: `/${path}/{id}`,
    operationId: `get${toPascalCase(title)}`,
    summary: `Get ${prefixIndefiniteArticle(title)}`,
    tag: path,
    query: emptyQuerySchema,
    headers: ["Prefer"],
    answer: { status: 200, description: `The ${title}.`, schema: record },
    errors: ["not_found"],
    example: { id: EXAMPLE_ID },
    async handle(c) {
      const row = await collection.find(c, readPathResourceId(c, title), readPreferredWaitMs(c))
      if (row === null) throw notFoundProblem(title)
      const whole = collection.hydrate ? await collection.hydrate(c, row) : row
      const job = collection.jobOf(whole)
      return { body: collection.view(c, whole, job && (await readProgress(c.env, job))) }
    },
  })
}

function deleteOperation<Row, RecordSchema extends z.ZodType<object>>(
  collection: MemberCollection<Row, RecordSchema>,
): Operation {
  const { path, title } = collection
  return defineOperation({
    method: "delete",
    path: `/${path}/{id}`,
    operationId: `delete${toPascalCase(title)}`,
    summary: `Delete ${prefixIndefiniteArticle(title)} and everything it stored; an open job is canceled first`,
    tag: path,
    query: emptyQuerySchema,
    answer: { status: 200, description: `The ${title} is deleted.`, schema: z.object({}) },
    errors: ["not_found"],
    example: { id: EXAMPLE_ID },
    async handle(c) {
      const row = await collection.find(c, readPathResourceId(c, title), null)
      if (row === null) throw notFoundProblem(title)
      await collection.remove(c, row)
      return { body: {} }
    },
  })
}

/** Reads the resource id of the path; throws 404 for a malformed id. */
export function readPathResourceId(c: AppContext, title: string): string {
  const id = c.req.param("id") ?? ""
  if (!isId(id)) {
    throw new Problem("not_found", `No such ${title} exists; ${describeMalformedId(title, id)}.`)
  }
  return id.toLowerCase()
}

/** Returns the URL of a resource. */
export function resourceUrl(c: AppContext, { path }: Pick<Kind, "path">, id: string): string {
  return `${getBaseUrl(c)}/${path}/${id}`
}

/** Adds the article to a resource's title: `an FFmpeg job` for `ffmpeg job`. */
export function prefixIndefiniteArticle(title: string): string {
  const noun = title.replace(/^ffmpeg\b/, "FFmpeg")
  return `${/^(?:[aeiou]|FF)/.test(noun) ? "an" : "a"} ${noun}`
}

function toPlural(title: string): string {
  return /(?:s|x|ch|sh)$/.test(title) ? `${title}es` : `${title}s`
}

/** Converts a resource's title to PascalCase, for operation ids: `Command` for `command`. */
export function toPascalCase(title: string): string {
  return title
    .split(" ")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("")
}
