import type { Mistake } from "./mistake.ts"

const CURL = 'curl -H "X-API-KEY: $KEY" -F file=@film.mp4 https://lathe.test/v1/files'
const invalid = { status: 422, code: "invalid_field" }
const other = { status: 415, code: "unsupported_media_type" }

/** Returns a form with these parts. */
function form(...parts: [name: string, value: string | File][]): (key: string) => RequestInit {
  return (key) => {
    const body = new FormData()
    for (const [name, value] of parts) body.append(name, value)
    return { method: "POST", headers: { "x-api-key": key }, body }
  }
}

/** Returns a body of a media type. */
function raw(body: string, headers: Record<string, string>): (key: string) => RequestInit {
  return (key) => ({ method: "POST", headers: { "x-api-key": key, ...headers }, body })
}

const film = new File(["x"], "film.mp4", { type: "video/mp4" })
const FORM = ["--b", 'content-disposition: form-data; name="file"; filename="a"', "", "x", "--b--"]

const NAMES = ["video", "upload", "files[]", "File", "document"].map((name): Mistake => {
  const words = ["unknown file field; did you mean `file`", CURL]
  const init = form([name, film])
  return { mistake: `a file as ${name}`, path: "/files", ...invalid, init, field: name, words }
})

const FORMS: Mistake[] = [
  {
    mistake: "two files",
    path: "/files",
    ...invalid,
    init: form(["file", film], ["file", film]),
    field: "file",
    words: ["send one request for each file"],
  },
  {
    mistake: "a file without bytes",
    path: "/files",
    ...invalid,
    init: form(["file", new File([], "film.mp4")]),
    field: "file",
    words: ["the file is empty"],
  },
  {
    mistake: "a form without a file",
    path: "/files",
    ...invalid,
    init: form(["priority", "5"]),
    field: "file",
    words: ["expected file or file_url", CURL],
  },
  {
    mistake: "a form without a file to normalize",
    path: "/normalize",
    ...invalid,
    init: form(["priority", "5"]),
    field: "file",
    words: ["expected file or file_url", "https://lathe.test/v1/normalize"],
  },
  {
    mistake: "a name beside a file",
    path: "/files",
    ...invalid,
    init: form(["file", film], ["filename", "a.mp4"]),
    field: "filename",
    words: ["-F 'file=@film.mp4;filename=name.mp4'"],
  },
  {
    mistake: "a path in the place of a file",
    path: "/files",
    ...invalid,
    init: form(["video", "film.mp4"]),
    field: "video",
    words: ["did you mean `file_url`?"],
  },
  {
    mistake: "metadata that is no JSON",
    path: "/files",
    ...invalid,
    init: form(["file", film], ["metadata", "{'a': 'b'}"]),
    field: "metadata",
    words: ["line 1, column 2", 'write `"`'],
  },
]

const TYPES: Mistake[] = [
  {
    mistake: "a form without a boundary",
    path: "/files",
    ...invalid,
    init: raw(FORM.join("\r\n"), { "content-type": "multipart/form-data" }),
    field: "content-type",
    words: ["let your client set this header", CURL],
  },
  {
    mistake: "a form with another boundary",
    path: "/files",
    ...invalid,
    init: raw(FORM.join("\r\n"), { "content-type": "multipart/form-data; boundary=c" }),
    field: "body",
    words: ["let your client set this header"],
  },
  {
    mistake: "a compressed form",
    path: "/files",
    ...other,
    init: raw("x", {
      "content-type": "multipart/form-data; boundary=b",
      "content-encoding": "gzip",
    }),
    words: ["Content-Encoding: gzip"],
  },
  {
    mistake: "JSON as curl sends it by itself",
    path: "/commands",
    ...other,
    init: raw("{}", { "content-type": "application/x-www-form-urlencoded" }),
    words: ["came as `application/x-www-form-urlencoded`", '-H "Content-Type: application/json"'],
  },
  {
    mistake: "JSON as a text",
    path: "/commands",
    ...other,
    init: raw("{}", { "content-type": "text/plain" }),
    words: ["came as `text/plain`"],
  },
  {
    mistake: "a file to a path that takes JSON alone",
    path: "/commands",
    ...other,
    init: form(["file", film]),
    words: ["POST /v1/files first", "svc_id://<id>"],
  },
  {
    mistake: "compressed JSON",
    path: "/commands",
    ...other,
    init: raw("{}", { "content-type": "application/json", "content-encoding": "gzip" }),
    words: ["Content-Encoding: gzip"],
  },
]

/** Mistakes in uploads and media types of bodies. */
export const UPLOAD_MISTAKES = [...NAMES, ...FORMS, ...TYPES]
