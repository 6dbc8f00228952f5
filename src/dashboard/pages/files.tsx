import { Hono } from "hono"
import { z } from "zod"
import { fileRecordSchema } from "../../kinds/file/record.ts"
import type { FileRecord } from "../../kinds/file/record.ts"
import { unwrapApiResult } from "../api.ts"
import type { ApiRequestResult } from "../api.ts"
import { readEncodedPathId } from "../context.ts"
import type { PageContext, PageEnv } from "../context.ts"
import { redirectWithMessage } from "../flash.ts"
import { showPage } from "../layout.tsx"
import { buildNextPagePath, readDashboardListQuery } from "../list-page.ts"
import { FileDetail } from "./files/detail.tsx"
import { AddFilesCard, FileTable, FILE_FILTER_PARAMETERS } from "./files/list.tsx"
import type { AddFilesErrors } from "./files/list.tsx"
import { readUploadLimits } from "./upload-limits.ts"

/**
 * Pages of the account's Files: a list with forms for uploads and imports, and a page for each
 * File.
 */
export const filePages = new Hono<PageEnv>()

const PATH = "/files"
const LIST_SCRIPTS = ["tus.min.js", "upload.client.js", "live.client.js"] as const

filePages.get(PATH, async (c) => await showList(c))

filePages.post(PATH, async (c) => {
  const answer = await c.get("api")("/files", fileRecordSchema, {
    method: "POST",
    passedOn: c.req.raw,
  })
  if (answer.ok) return redirectToFile(c, answer.value, "was uploaded")
  return await showList(c, { upload: answer })
})

filePages.post(`${PATH}/import`, async (c) => {
  const { file_url = "" } = await c.req.parseBody<{ file_url?: string }>()
  const json = { file_url: typeof file_url === "string" ? file_url.trim() : "" }
  const answer = await c.get("api")("/files", fileRecordSchema, { method: "POST", json })
  if (answer.ok) return redirectToFile(c, answer.value, "is on its way")
  return await showList(c, { import: answer, url: json.file_url })
})

filePages.get(`${PATH}/:id`, async (c) => {
  const answer = await c.get("api")(`/files/${readEncodedPathId(c)}`, fileRecordSchema)
  const file = unwrapApiResult(answer)
  const scripts = ["live.client.js"] as const
  return await showPage(
    c,
    { title: file.name, section: "files", scripts },
    <FileDetail file={file} />,
  )
})

const PUBLISH = {
  publish: { method: "POST", said: "The file is published: anybody with its URL can read it." },
  unpublish: { method: "DELETE", said: "The file is no longer published." },
} as const

filePages.post(`${PATH}/:id/:act{(?:un)?publish}`, async (c) => {
  const { method, said } = PUBLISH[c.req.param("act") === "publish" ? "publish" : "unpublish"]
  unwrapApiResult(
    await c.get("api")(`/files/${readEncodedPathId(c)}/publish`, z.looseObject({}), { method }),
  )
  return redirectWithMessage(c, `${PATH}/${readEncodedPathId(c)}`, said)
})

filePages.post(`${PATH}/:id/delete`, async (c) => {
  const answer = await c.get("api")(`/files/${readEncodedPathId(c)}`, z.object({}), {
    method: "DELETE",
  })
  unwrapApiResult(answer)
  return redirectWithMessage(c, PATH, "The file was deleted.")
})

type FileProblem = Exclude<ApiRequestResult<FileRecord>, { ok: true }>

/** Responds with the list of Files, and the errors of a refused upload or import. */
async function showList(
  c: PageContext,
  refused: { upload?: FileProblem; import?: FileProblem; url?: string } = {},
) {
  const { filters, query, isFirstPage } = readDashboardListQuery(c, FILE_FILTER_PARAMETERS)
  const answer = await c.get("api")(`/files?${query.toString()}`, z.array(fileRecordSchema))
  const { status } = refused.upload ?? refused.import ?? { status: 200 }
  const faults: AddFilesErrors = {
    upload: refused.upload?.message,
    import: refused.import && (refused.import.faults[0]?.message ?? refused.import.message),
    url: refused.url,
  }
  return await showPage(
    c,
    { title: "Files", section: "files", scripts: LIST_SCRIPTS, status: pageStatus(status) },
    <>
      <AddFilesCard faults={faults} limits={readUploadLimits(c)} />
      <FileTable
        files={unwrapApiResult(answer)}
        filters={filters}
        next={buildNextPagePath(PATH, answer)}
        isFirstPage={isFirstPage}
      />
    </>,
  )
}

/** Returns the HTTP status of a page that shows an error of the API. */
function pageStatus(status: number): 200 | 403 | 422 | 429 {
  if (status < 400) return 200
  return status === 403 || status === 429 ? status : 422
}

function redirectToFile(c: PageContext, { id, name }: FileRecord, outcome: string): Response {
  return redirectWithMessage(c, `${PATH}/${id}`, `“${name}” ${outcome}.`)
}
