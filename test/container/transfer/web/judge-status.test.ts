import { IncomingMessage } from "node:http"
import { Socket } from "node:net"
import { expect, test } from "vitest"
import { judgeStatus } from "../../../../container/transfer/web/judge-status.ts"

test.for([
  [401, "POST /fetch takes cookies"],
  [403, "check it, or give POST /fetch cookies"],
  [404, "check it"],
  [410, "find a newer one"],
  [429, "try again later"],
  [500, "try again later"],
] as const)("the sentence of a %d says: %s", ([status, advice]) => {
  const response = new IncomingMessage(new Socket())
  response.statusCode = status
  expect(judgeStatus(response)?.message).toContain(advice)
})
