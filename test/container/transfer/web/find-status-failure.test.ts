import { IncomingMessage } from "node:http"
import { Socket } from "node:net"
import { expect, test } from "vitest"
import { findStatusFailure } from "../../../../container/transfer/web/request-web-source.ts"

test.for([
  [401, "add headers to that of a file, or use POST /fetch with cookies"],
  [403, "check the URL, add headers to it, or use POST /fetch with cookies"],
  [404, "check the URL"],
  [410, "use a newer one"],
  [429, "try again later"],
  [500, "try again later"],
] as const)("the sentence of a %d says: %s", ([status, advice]) => {
  const response = new IncomingMessage(new Socket())
  response.statusCode = status
  expect(findStatusFailure(response)?.message).toContain(advice)
})
