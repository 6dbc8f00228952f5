import { Hono } from "hono"
import { z } from "zod"
import { fileRecord } from "../../kinds/file/record.ts"
import type { FileRecord } from "../../kinds/file/record.ts"
import { valueOf } from "../api.ts"
import type { ApiAnswer } from "../api.ts"
import type { PageContext, Pages } from "../context.ts"
import { redirectWith } from "../flash.ts"
import { showPage } from "../layout.tsx"
import { nextPage, readListQuery } from "../list-page.ts"
import { FileDetail } from "./files/detail.tsx"
import { AddFiles, FileTable, FILE_FILTERS } from "./files/list.tsx"
import type { AddFilesFaults } from "./files/list.tsx"
import { fileBytesMax } from "./limits.ts"

/** The account's files: a list that takes uploads and imports, and a page of each. */
export const files = new Hono<Pages>()

const PATH = "/files"
const LIST_SCRIPTS = ["upload.client.js", "live.client.js"] as const

files.get(PATH, async (c) => await showList(c))

files.post(PATH, async (c) => {
  const answer = await c.get("api")("/files", fileRecord, { method: "POST", passedOn: c.req.raw })
  if (answer.ok) return redirectToFile(c, answer.value, "was uploaded")
  return await showList(c, { upload: answer })
})

files.post(`${PATH}/import`, async (c) => {
  const { file_url = "" } = await c.req.parseBody<{ file_url?: string }>()
  const json = { file_url: typeof file_url === "string" ? file_url.trim() : "" }
  const answer = await c.get("api")("/files", fileRecord, { method: "POST", json })
  if (answer.ok) return redirectToFile(c, answer.value, "is on its way")
  return await showList(c, { import: answer, url: json.file_url })
})

files.get(`${PATH}/:id`, async (c) => {
  const answer = await c.get("api")(`/files/${pathId(c)}`, fileRecord)
  const file = valueOf(answer)
  const scripts = ["live.client.js"] as const
  return await showPage(
    c,
    { title: file.name, section: "files", scripts },
    <FileDetail file={file} />,
  )
})

const PUBLISH = {
  publish: { method: "POST", said: "The file is published: whoever has its address reads it." },
  unpublish: { method: "DELETE", said: "The file is no longer published." },
} as const

files.post(`${PATH}/:id/:act{(?:un)?publish}`, async (c) => {
  const { method, said } = PUBLISH[c.req.param("act") === "publish" ? "publish" : "unpublish"]
  valueOf(await c.get("api")(`/files/${pathId(c)}/publish`, z.looseObject({}), { method }))
  return redirectWith(c, `${PATH}/${pathId(c)}`, said)
})

files.post(`${PATH}/:id/delete`, async (c) => {
  const answer = await c.get("api")(`/files/${pathId(c)}`, z.object({}), { method: "DELETE" })
  valueOf(answer)
  return redirectWith(c, PATH, "The file was deleted.")
})

function pathId(c: PageContext): string {
  return encodeURIComponent(c.req.param("id") ?? "")
}

type Refused = Exclude<ApiAnswer<FileRecord>, { ok: true }>

/** The list, and what was wrong with what was to be added to it. */
async function showList(
  c: PageContext,
  refused: { upload?: Refused; import?: Refused; url?: string } = {},
) {
  const { filters, query, isFirstPage } = readListQuery(c, FILE_FILTERS)
  const answer = await c.get("api")(`/files?${query.toString()}`, z.array(fileRecord))
  const { status } = refused.upload ?? refused.import ?? { status: 200 }
  const faults: AddFilesFaults = {
    upload: refused.upload?.message,
    import: refused.import && (refused.import.faults[0]?.message ?? refused.import.message),
    url: refused.url,
  }
  return await showPage(
    c,
    { title: "Files", section: "files", scripts: LIST_SCRIPTS, status: pageStatus(status) },
    <>
      <AddFiles faults={faults} bytesMax={fileBytesMax(c)} />
      <FileTable
        files={valueOf(answer)}
        filters={filters}
        next={nextPage(PATH, answer)}
        isFirstPage={isFirstPage}
      />
    </>,
  )
}

/** The status of a page that tells of a refusal with this one. */
function pageStatus(status: number): 200 | 403 | 422 | 429 {
  if (status < 400) return 200
  return status === 403 || status === 429 ? status : 422
}

function redirectToFile(c: PageContext, { id, name }: FileRecord, what: string): Response {
  return redirectWith(c, `${PATH}/${id}`, `“${name}” ${what}.`)
}
