import { z } from "zod"
import { baseUrl, preferredWaitMs } from "./request.ts"
import type { AppContext } from "./request.ts"
import { NO_QUERY, operation } from "./operation.ts"
import type { Operation } from "./operation.ts"
import { linkNext, pageOf, pageQuery } from "./paging.ts"
import { notFound, Problem } from "./problem.ts"
import { describeNoId } from "../hints/ids.ts"
import { EXAMPLE_ID, isId } from "../ids.ts"
import type { Kind } from "../kinds/kind.ts"
import { STATUSES } from "../kinds/record-fields.ts"
import { progressOf, progressOfJobs } from "../pipeline/jobs/wait.ts"
import type { Progress } from "../rpc.ts"
import type { Page } from "../storage/paging.ts"
import type { Job } from "../storage/schema/jobs.ts"

export const statusFilter = z.enum(STATUSES, `expected one of ${STATUSES.join(", ")}`).optional()

/** A collection of /v1 whose members are found by id; rows are what its store has of a member. */
export type Collection<
  Row,
  Filters extends z.ZodRawShape,
  RecordSchema extends z.ZodType<object>,
> = {
  /** Without a slash. */
  path: string
  /** What a sentence calls a member, and how ids of operations name it. */
  title: string
  record: RecordSchema
  filters: z.ZodObject<Filters>
  list(c: AppContext, filters: z.output<z.ZodObject<Filters>>, page: Page): Promise<Row[]>
  idOf(row: Row): string
  /** The job whose progress its record shows; null where it has none. */
  jobOf(row: Row): Job | null
  /** Waits for the job's end for as long as the caller prefers; null where there is none such. */
  find(c: AppContext, id: string, waitMs: number | null): Promise<Row | null>
  /** A row with its large values, which lists do without; where left out, rows have none. */
  whole?(c: AppContext, row: Row): Promise<Row>
  view(c: AppContext, row: Row, progress: Progress | null): z.output<RecordSchema>
  remove(c: AppContext, row: Row): Promise<void>
}

/** The list, GET and DELETE of a collection. */
export function collectionOperations<
  Row,
  Filters extends z.ZodRawShape,
  RecordSchema extends z.ZodType<object>,
>(collection: Collection<Row, Filters, RecordSchema>): Operation[] {
  return [listOperation(collection), getOperation(collection), deleteOperation(collection)]
}

function listOperation<Row, Filters extends z.ZodRawShape, RecordSchema extends z.ZodType<object>>(
  collection: Collection<Row, Filters, RecordSchema>,
): Operation {
  const { path, title, record, filters } = collection
  return operation({
    method: "get",
    path: `/${path}`,
    operationId: `list${nameOf(title)}s`,
    summary: `List ${title}s, newest first`,
    tag: path,
    query: pageQuery.extend(filters.shape),
    answer: {
      status: 200,
      description: `A page of ${title}s.`,
      schema: z.array(record),
      headers: { Link: "The address of the next page, where there may be one." },
    },
    example: { limit: "5" },
    async handle(c) {
      // Each from what was sent: a value that a schema made is not what the schema reads.
      const sent = c.req.query()
      const page = pageOf(pageQuery.parse(sent))
      const rows = await collection.list(c, filters.parse(sent), page)
      const ids = rows.map((row) => ({ id: collection.idOf(row) }))
      const jobs = rows.flatMap((row) => collection.jobOf(row) ?? [])
      const progress = await progressOfJobs(c.env, jobs)
      return {
        body: rows.map((row) => {
          return collection.view(c, row, progress.get(collection.jobOf(row)?.id ?? "") ?? null)
        }),
        headers: linkNext(c, `/${path}`, page, ids),
      }
    },
  })
}

type Members<Row, RecordSchema extends z.ZodType<object>> = Pick<
  Collection<Row, z.ZodRawShape, RecordSchema>,
  "path" | "title" | "record" | "find" | "whole" | "jobOf" | "view" | "remove"
>

function getOperation<Row, RecordSchema extends z.ZodType<object>>(
  collection: Members<Row, RecordSchema>,
): Operation {
  const { path, title, record } = collection
  return operation({
    method: "get",
    path: `/${path}/{id}`,
    operationId: `get${nameOf(title)}`,
    summary: `Get a ${title}`,
    tag: path,
    query: NO_QUERY,
    headers: ["Prefer"],
    answer: { status: 200, description: `The ${title}.`, schema: record },
    errors: ["not_found"],
    example: { id: EXAMPLE_ID },
    async handle(c) {
      const row = await collection.find(c, readId(c, title), preferredWaitMs(c))
      if (row === null) throw notFound(title)
      const whole = collection.whole ? await collection.whole(c, row) : row
      const job = collection.jobOf(whole)
      return { body: collection.view(c, whole, job && (await progressOf(c.env, job))) }
    },
  })
}

function deleteOperation<Row, RecordSchema extends z.ZodType<object>>(
  collection: Members<Row, RecordSchema>,
): Operation {
  const { path, title } = collection
  return operation({
    method: "delete",
    path: `/${path}/{id}`,
    operationId: `delete${nameOf(title)}`,
    summary: `Delete a ${title}, with all that it stored; one that runs is canceled first`,
    tag: path,
    query: NO_QUERY,
    answer: { status: 200, description: "It is gone.", schema: z.object({}) },
    errors: ["not_found"],
    example: { id: EXAMPLE_ID },
    async handle(c) {
      const row = await collection.find(c, readId(c, title), null)
      if (row === null) throw notFound(title)
      await collection.remove(c, row)
      return { body: {} }
    },
  })
}

/** The id of the path; 404 for one that can be none. */
export function readId(c: AppContext, title: string): string {
  const id = c.req.param("id") ?? ""
  if (!isId(id)) {
    throw new Problem("not_found", `There is no such ${title}; ${describeNoId(title, id)}.`)
  }
  return id.toLowerCase()
}

/** The address of a member. */
export function locationOf(c: AppContext, { path }: Pick<Kind, "path">, id: string): string {
  return `${baseUrl(c)}/${path}/${id}`
}

/** `Command` for `command`, and so of each word: how ids of operations name a kind. */
export function nameOf(title: string): string {
  return title
    .split(" ")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("")
}
