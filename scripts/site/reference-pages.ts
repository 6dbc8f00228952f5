import { z } from "zod"
import { makeHeadingAnchor } from "../check/document-links.ts"
import type { SitePage } from "./page.ts"
import {
  describeSchemaType,
  makeObjectLink,
  makeFieldRows,
  findObjectPagePath,
  jsonSchemaParser,
} from "./schema-fields.ts"
import type { JsonSchema } from "./schema-fields.ts"
import { makeMarkdownTable } from "./table.ts"

const content = z.record(
  z.string(),
  z.looseObject({ schema: jsonSchemaParser.optional(), example: z.unknown().optional() }),
)

const operation = z.looseObject({
  operationId: z.string(),
  summary: z.string(),
  description: z.string().optional(),
  tags: z.array(z.string()).min(1),
  "x-scope": z.string().optional(),
  parameters: z
    .array(
      z.looseObject({
        in: z.string(),
        name: z.string(),
        description: z.string().optional(),
        required: z.boolean().optional(),
        schema: jsonSchemaParser,
      }),
    )
    .default([]),
  requestBody: z.looseObject({ content }).optional(),
  responses: z.record(
    z.string(),
    z.looseObject({ description: z.string(), content: content.optional() }),
  ),
})

const document = z.looseObject({
  paths: z.record(z.string(), z.record(z.string(), operation)),
  webhooks: z.record(z.string(), z.looseObject({ post: operation })),
  components: z.looseObject({ schemas: z.record(z.string(), jsonSchemaParser) }),
})

type Operation = z.infer<typeof operation> & { method: string; path: string }

/**
 * Title of each reference page and path of its guide, by the OpenAPI tag of the page's operations.
 */
const TAGS: Record<string, { title: string; guide: string }> = {
  commands: { title: "Commands", guide: "guide/commands" },
  files: { title: "Files", guide: "guide/files" },
  uploads: { title: "Uploads", guide: "guide/uploads" },
  transcode: { title: "Transcode", guide: "guide/transcode" },
  fetch: { title: "Fetch", guide: "guide/fetch" },
  normalize: { title: "Normalize", guide: "guide/normalize" },
  transcribe: { title: "Transcribe", guide: "guide/transcribe" },
  ffmpeg: { title: "FFmpeg jobs", guide: "guide/commands" },
  jobs: { title: "Jobs", guide: "guide/jobs" },
  batches: { title: "Batches", guide: "guide/chains" },
  webhooks: { title: "Webhooks", guide: "guide/webhooks" },
  keys: { title: "Keys", guide: "guide/keys" },
  account: { title: "Account", guide: "guide/limits" },
  health: { title: "Service", guide: "guide/capabilities" },
}

/**
 * Makes the pages of the reference from the OpenAPI document: a list of all operations, a page for
 * each tag, and a page of all objects.
 */
export function makeReferencePages(openapi: unknown): SitePage[] {
  const { paths, webhooks, components } = document.parse(openapi)
  const operations: Operation[] = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, each]) => ({
      ...each,
      method: method.toUpperCase(),
      path: `/v1${path}`,
    })),
  )
  const byTag = Map.groupBy(operations, ({ tags: [tag = ""] }) => tag)
  for (const tag of byTag.keys()) if (!TAGS[tag]) throw new Error(`The tag ${tag} has no page`)
  const tags = Object.entries(TAGS).map(([tag, facts]) => ({
    ...facts,
    path: `reference/${tag}`,
    operations: byTag.get(tag) ?? [],
  }))
  const pages = tags.map(({ path, title, guide, operations: own }) =>
    page(path, describeTag(title, guide, own, components.schemas)),
  )
  return [
    page("reference/index", makeOverview(tags)),
    ...pages,
    page("reference/events", describeEvents(Object.keys(webhooks))),
    ...describeObjects(components.schemas, pages),
  ]
}

function page(path: string, markdown: string): SitePage {
  return { path, markdown, source: null }
}

function makeOverview(tags: { title: string; path: string; operations: Operation[] }[]): string {
  const lists = tags.map(({ title, path, operations }) => {
    const rows = operations.map(({ method, path: address, summary }) => [
      `[\`${method} ${address}\`](/docs/${path}#${makeHeadingAnchor(summary)})`,
      summary,
    ])
    return `## ${title}\n\n${makeMarkdownTable(["request", "effect"], rows)}`
  })
  return [
    "# Reference",
    "Every operation of the interface, made from the OpenAPI document that the service also serves at [/v1/openapi.json](/v1/openapi.json). The [viewer](/docs/reference/viewer) sends requests to this service from the browser.",
    ...lists,
    "",
  ].join("\n\n")
}

function describeTag(
  title: string,
  guide: string,
  operations: Operation[],
  objects: Record<string, JsonSchema>,
): string {
  const lead = `Operations of the reference; [the guide](/docs/${guide}) has examples and explains them.`
  const described = operations.map((each) => describeOperation(each, objects))
  return [`# ${title}: reference`, lead, ...described, ""].join("\n\n")
}

function describeOperation(each: Operation, objects: Record<string, JsonSchema>): string {
  const { method, path, summary, description, "x-scope": scope, parameters } = each
  const key = scope === undefined ? "No key is needed." : `The key needs the scope \`${scope}\`.`
  const parts = [`## ${summary}`, `\`${method} ${path}\` — ${key}`]
  if (description !== undefined) parts.push(description)
  if (parameters.length > 0) {
    const rows = parameters.map((one) => [
      `\`${one.name}\`${one.required ? " (required)" : ""}`,
      one.in,
      describeSchemaType(one.schema),
      one.description ?? "",
    ])
    parts.push("**Parameters**", makeMarkdownTable(["name", "in", "type", "meaning"], rows))
  }
  for (const [type, body] of Object.entries(each.requestBody?.content ?? {})) {
    parts.push(...describeBody(type, body, objects))
  }
  return [...parts, ...describeResponses(each)].join("\n\n")
}

function describeBody(
  type: string,
  { schema: given, example }: z.infer<typeof content>[string],
  objects: Record<string, JsonSchema>,
): string[] {
  const shown = [`**Body, ${type}**`]
  const { $ref: ref } = given ?? {}
  const object = ref === undefined ? given : objects[ref.split("/").at(-1) ?? ""]
  const rows = object ? makeFieldRows(object) : []
  if (rows.length > 0) shown.push(makeMarkdownTable(["field", "type", "meaning"], rows))
  if (rows.length === 0) shown.push(object?.description ?? "Bytes.")
  if (example !== undefined) shown.push(`\`\`\`json\n${JSON.stringify(example, null, 2)}\n\`\`\``)
  return shown
}

function describeResponses({ responses }: Operation): string[] {
  const entries = Object.entries(responses)
  const good = entries.filter(([status]) => Number(status) < 400)
  const shown = good.flatMap(([status, { description, content: bodies }]) => {
    const given = Object.values(bodies ?? {})[0]?.schema
    const type = given === undefined ? "" : describeAnswer(given)
    const rows = given ? makeFieldRows(given) : []
    const fields = rows.length > 0 ? [makeMarkdownTable(["field", "type", "meaning"], rows)] : []
    return [`**Answer ${status}** ${description}${type}`, ...fields]
  })
  const errors = entries.filter(([status]) => Number(status) >= 400)
  if (errors.length === 0) return shown
  const rows = errors.map(([status, { description }]) => [status, description])
  return [...shown, "**Errors**", makeMarkdownTable(["status", "codes"], rows)]
}

function describeAnswer({ $ref: ref, type, items }: JsonSchema): string {
  if (ref !== undefined) return ` It is a ${makeObjectLink(ref)}.`
  if (type === "array" && items) return ` It is an array of ${describeSchemaType(items)}.`
  return ""
}

function describeEvents(names: string[]): string {
  const rows = names.map((name) => [`\`${name}\``, meaningOf(name)])
  return `# Events: reference

Every type of event that a webhook carries; [the guide](/docs/guide/webhooks) explains the request and its signature.

${makeMarkdownTable(["event", "sent"], rows)}
`
}

function meaningOf(event: string): string {
  if (event === "webhook.test") return "by `POST /v1/webhooks/test` and the test of an endpoint"
  const [kind = "", end = ""] = event.split(".")
  const ends: Record<string, string> = {
    succeeded: "succeeded",
    failed: "failed",
    canceled: "was canceled",
  }
  return `when a job of the kind \`${kind}\` ${ends[end] ?? end}`
}

/**
 * Describes the objects to which the pages of operations link, and the objects to which these
 * descriptions link in turn.
 */
function describeObjects(objects: Record<string, JsonSchema>, pages: SitePage[]): SitePage[] {
  const sections = new Map<string, string>()
  const texts = pages.map(({ markdown }) => markdown)
  for (const text of texts) {
    for (const [, name = ""] of text.matchAll(/\[(\w+)\]\(\/docs\/reference\/(?:job-)?objects#/g)) {
      const object = objects[name]
      if (!object || sections.has(name)) continue
      const section = describeObject(name, object)
      sections.set(name, section)
      texts.push(section)
    }
  }
  const sorted = [...sections].toSorted(([one], [other]) => one.localeCompare(other))
  return [
    { path: "reference/job-objects", title: "Objects of jobs" },
    { path: "reference/objects", title: "Other objects" },
  ].map(({ path, title }) => {
    const own = sorted.filter(([name]) => findObjectPagePath(name) === path).map(([, text]) => text)
    const lead = "Objects of requests and answers, with their fields."
    return page(path, [`# ${title}: reference`, lead, ...own, ""].join("\n\n"))
  })
}

function describeObject(name: string, object: JsonSchema): string {
  const rows = makeFieldRows(object, { depthMax: 2 })
  const about = object.description === undefined ? [] : [object.description]
  const fields = rows.length > 0 ? [makeMarkdownTable(["field", "type", "meaning"], rows)] : []
  return [`## ${name}`, ...about, ...fields].join("\n\n")
}
