import { expect, test } from "vitest"
import { makeLectureRequest } from "../../scripts/demo/lecture/request.ts"

/** Maximum number of lines of the request as formatted JSON. */
const LINES_MAX = 60

test("the request of the lecture demo has at most 60 lines of JSON", () => {
  const lines = JSON.stringify(makeLectureRequest(crypto.randomUUID()), null, 2).split("\n")
  expect(lines.length).toBeLessThanOrEqual(LINES_MAX)
})
