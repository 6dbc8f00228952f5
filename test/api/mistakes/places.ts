import type { Mistake } from "./mistake.ts"

const ID = "0198f0b2-7c11-7cc3-9f3e-0a6b3d2f1a11"
const missing = { status: 404, code: "not_found" }
const wrongMethod = { status: 405, code: "method_not_allowed" }
const invalid = { status: 422, code: "invalid_field" }
const noKey = { path: "/files", status: 401, code: "invalid_token" }

function by(method: string): (key: string) => RequestInit {
  return (key) => ({ method, headers: { "x-api-key": key } })
}

/** A GET of an unknown path, with the path that was meant. */
function lost(path: string, near: string): Mistake {
  return { mistake: `the path ${path}`, path, init: by("GET"), ...missing, words: [`\`${near}\`?`] }
}

const PATHS: Mistake[] = [
  lost("/assets", "/v1/files"),
  lost("/probe", "/v1/files"),
  lost("/me", "/v1/account"),
  lost("/usage", "/v1/account"),
  lost("/status", "/v1/health"),
  lost("/deliveries", "/v1/webhooks/deliveries"),
  lost("/swagger.json", "/v1/openapi.json"),
  lost(`/assets/${ID}`, `/v1/files/${ID}`),
  lost(`/commands/${ID}/status`, `/v1/commands/${ID}`),
  lost(`/files/svc_id://${ID}`, `/v1/files/${ID}`),
  lost("/v1/files", "/v1/files"),
  {
    mistake: "a path that nothing is like",
    path: "/zebra",
    init: by("GET"),
    ...missing,
    words: ["No such path exists; see /docs for all paths."],
  },
]

/** A mistake in place of an id. */
function noId(word: string, words: string[]): Mistake {
  const path = `/files/${encodeURIComponent(word)}`
  const mistake = `${JSON.stringify(word)} for an id`
  return { mistake, path, init: by("GET"), ...missing, words: ["No such file exists; ", ...words] }
}

const IDS: Mistake[] = [
  noId("{id}", ["`{id}` is not the id of a"]),
  noId(":id", ["`:id` is not the id"]),
  noId("undefined", ["`undefined` is not the id"]),
  noId(` ${ID}`, [`write the id alone: \`${ID}\``]),
  noId(`svc_id://${ID}`, [`write the id alone: \`${ID}\``]),
  noId(ID.slice(0, -1), ["copy the whole id: an id has 36 characters"]),
  noId(ID.replaceAll("-", ""), ["with its four dashes"]),
  noId("123", ["`123` is not an id; an id looks like `"]),
]

const METHODS: Mistake[] = [
  {
    mistake: "a file that is put",
    path: "/files/a.mp4",
    init: by("PUT"),
    ...wrongMethod,
    words: ["use DELETE, GET, HEAD; to create a record, send POST to `/v1/files`"],
  },
  {
    mistake: "a file that is sent to a path below",
    path: "/files/upload",
    init: by("POST"),
    ...wrongMethod,
    words: ["to create a record, send POST to `/v1/files`"],
  },
  {
    mistake: "a job that is deleted by POST",
    path: `/commands/${ID}`,
    init: by("POST"),
    ...wrongMethod,
    words: ["use DELETE, GET, HEAD"],
  },
]

function parameter(query: string, words: string[]): Mistake {
  const path = `/jobs?${query}`
  const field = /^\w+/.exec(query)?.[0] ?? ""
  return { mistake: `the query ${query}`, path, init: by("GET"), ...invalid, field, words }
}

const PARAMETERS: Mistake[] = [
  parameter("per_page=5", ["did you mean `limit`?"]),
  parameter("page=2", ["did you mean `offset`?"]),
  parameter("since=2026-01-01", ["did you mean `created_after`?"]),
  parameter("type=command", ["did you mean `kind`?"]),
  parameter("limit=1&limit=2", ["occurs 2 times"]),
  parameter("limit=0", ["from 1 to 100"]),
  parameter("status=success", ["expected one of queued", "did you mean `completed`?"]),
  parameter("status=DONE", ["did you mean `completed`?"]),
  parameter("kind=commands", ["did you mean `command`?"]),
  parameter("created_after=2026-01-31", ["write `2026-01-31T00:00:00Z`"]),
  parameter("created_after=2026-01-31T12:00:00", ["write `2026-01-31T12:00:00Z`"]),
  parameter("created_after=2026-01-31T12:00:00+01:00", ["write `2026-01-31T11:00:00Z`"]),
  parameter("created_after=1767225600", ["write `2026-01-01T00:00:00Z`"]),
  parameter("created_after=yesterday", ["expected a date-time such as"]),
  {
    mistake: "a URL that is not encoded",
    path: "/fetch/metadata?url=https://example.com/watch?v=1&list=2",
    init: by("GET"),
    ...invalid,
    field: "list",
    words: ["the path takes `url`, whose own `&` must be written as `%26`"],
  },
]

/** A key in a wrong location. */
function keyed(mistake: string, headers: (key: string) => object, words: string[]): Mistake {
  return { mistake, ...noKey, init: (key) => ({ headers: { ...headers(key) } }), words }
}

const KEYS: Mistake[] = [
  keyed("a key by Basic", (key) => ({ authorization: `Basic ${btoa(`${key}:`)}` }), [
    "holds `Basic`, and no `Bearer <key>`",
  ]),
  keyed("a key by Token", (key) => ({ authorization: `Token ${key}` }), ["holds `Token`"]),
  keyed("a key in a header with lines below", (key) => ({ x_api_key: key }), ["`x_api_key`"]),
  keyed("the name of a key", () => ({ "x-api-key": "YOUR_API_KEY" }), ["replace the placeholder"]),
  keyed("a variable of a shell for a key", () => ({ "x-api-key": "$KEY" }), [
    "replace the placeholder",
  ]),
  {
    mistake: "a key in a parameter with a large letter",
    ...noKey,
    path: "/files?Key=lathe_x",
    init: () => ({}),
    words: ["from the query parameter `Key`", "`key`"],
  },
]

/** Mistakes in paths, ids, methods, parameters and locations of keys. */
export const PLACE_MISTAKES = [...PATHS, ...IDS, ...METHODS, ...PARAMETERS, ...KEYS]
