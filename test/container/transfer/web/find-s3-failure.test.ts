import { IncomingMessage } from "node:http"
import { Socket } from "node:net"
import { expect, test } from "vitest"
import { findS3Failure } from "../../../../container/transfer/web/request-s3-object.ts"
import { SourceChangedError } from "../../../../container/transfer/web/source-error.ts"

function judge(statusCode: number, headers: Record<string, string>) {
  const response = new IncomingMessage(new Socket())
  return findS3Failure(Object.assign(response, { statusCode, headers }), "films")
}

function refused(status: number, word?: string) {
  const code = word !== undefined && { "lathe-source-code": word }
  return { "lathe-source": "refused", "lathe-source-status": String(status), ...code }
}

test.for([
  [
    404,
    "NoSuchKey",
    "not_found",
    false,
    "There is no such object in the bucket: check its key. It answered 404 NoSuchKey.",
  ],
  [
    404,
    "NoSuchBucket",
    "not_found",
    false,
    "The store has no such bucket. It answered 404 NoSuchBucket.",
  ],
  [
    403,
    undefined,
    "not_found",
    false,
    "whether the operator's credentials may read it. It answered 403.",
  ],
  [403, "AccessDenied", "not_found", false, "The store refuses the object to this service"],
  [403, "InvalidAccessKeyId", "server_error", false, "does not accept the operator's credentials"],
  [403, "InvalidObjectState", "not_found", false, "in an archive"],
  [400, "AuthorizationHeaderMalformed", "server_error", false, "the bucket is elsewhere"],
  [307, undefined, "server_error", false, "the bucket is elsewhere"],
  [400, "InvalidArgument", "not_found", false, "check its key"],
  [429, undefined, "server_error", true, "try again later"],
  [500, "InternalError", "server_error", true, "try again later"],
  [503, "SlowDown", "server_error", true, "try again later"],
] as const)("a store's %d %s is %s", ([status, word, code, isPassing, sentence]) => {
  const judged = judge(424, refused(status, word))
  expect(judged).toMatchObject({ code, isPassing })
  expect(judged?.message).toContain(sentence)
})

test("a busy store names the time of the next attempt", () => {
  const judged = judge(424, { ...refused(503, "SlowDown"), "retry-after": "7" })
  expect(judged).toMatchObject({ retryAfterMs: 7000 })
})

test("a found object is no failure, and another version of it is a changed source", () => {
  for (const status of [200, 206, 416])
    expect(judge(status, { "lathe-source": "found" })).toBeNull()
  expect(judge(412, { "lathe-source": "found" })).toBeInstanceOf(SourceChangedError)
})

test("an unlisted bucket and an unreachable store are named", () => {
  const unlisted = judge(424, { "lathe-source": "unlisted" })
  expect(unlisted).toMatchObject({ code: "url_not_allowed", isPassing: false })
  const unreachable = judge(424, { "lathe-source": "unreachable" })
  expect(unreachable).toMatchObject({ code: "connection_failed", isPassing: true })
})

test("a response without the store's outcome is the service's own failure", () => {
  expect(() => judge(500, {})).toThrow("The Worker answered 500 to GET /source.")
  expect(() => judge(200, { "lathe-source": "odd" })).toThrow("The Worker answered 200")
})
