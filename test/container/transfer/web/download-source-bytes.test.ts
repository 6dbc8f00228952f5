import { text } from "node:stream/consumers"
import { setTimeout as sleep } from "node:timers/promises"
import { describe, expect, test } from "vitest"
import { createDialFunction } from "../../../../container/egress/dial.ts"
import { createWebRequester } from "../../../../container/transfer/web/request-web-source.ts"
import { downloadSourceBytes } from "../../../../container/transfer/web/download-source-bytes.ts"
import { requestSource } from "../../../../container/transfer/web/request-source.ts"
import type { SourceLimits } from "../../../../container/transfer/web/request-source.ts"
import { startSource } from "../../tasks/import/source-server.ts"
import type { Answer } from "../../tasks/import/source-server.ts"

const LIMITS: SourceLimits = {
  startMs: 2000,
  answerMs: 500,
  stallMs: 300,
  slowMs: 600,
  bytesPerSecondMin: 1000,
  firstDelayMs: 5,
}

/** Reads all that a source sends, within small limits; `pauseMs` slows the reader. */
async function readFrom(answer: Answer, pauseMs = 0) {
  await using source = await startSource(answer)
  const dial = createDialFunction({ allowedHosts: ["127.0.0.1"], upstream: null })
  const { signal } = new AbortController()
  const request = {
    url: new URL(source.origin),
    send: createWebRequester(dial, []),
    signal,
    limits: LIMITS,
  }
  const opened = await requestSource(request)
  const beginning = { answer: opened, position: 0, onPosition: () => undefined }
  async function* slowly() {
    for await (const chunk of downloadSourceBytes(request, opened.facts, beginning)) {
      yield chunk
      await sleep(pauseMs)
    }
  }
  return { read: await text(slowly()), requests: source.requests }
}

describe("a source", () => {
  test("resumes with a range request after silence", async () => {
    const { read, requests } = await readFrom((incoming, answer) => {
      if (incoming.headers.range === undefined) {
        answer.writeHead(200, { "content-length": 6, etag: '"one"' }).write("abc")
        return
      }
      answer.writeHead(206, { "content-range": "bytes 3-5/6", etag: '"one"' }).end("def")
    })
    expect(read).toBe("abcdef")
    expect(requests.map(({ headers }) => headers.range)).toEqual([undefined, "bytes=3-"])
  })

  test("is too slow if it is silent after each request", async () => {
    const reading = readFrom((incoming, answer) => {
      const { range } = incoming.headers
      const head = range === undefined ? {} : { "content-range": `${range.replace("=", " ")}5/6` }
      answer.writeHead(range === undefined ? 200 : 206, { ...head, etag: '"one"' })
      if (range === undefined) answer.write("abc")
      else answer.flushHeaders()
    })
    await expect(reading).rejects.toMatchObject({ code: "too_slow" })
  })

  test("is too slow if it drips, though it is never silent", async () => {
    const reading = readFrom((_, answer) => {
      answer.writeHead(200, { etag: '"one"' })
      const timer = setInterval(() => answer.write("x"), 20)
      answer.once("close", () => clearInterval(timer))
    })
    await expect(reading).rejects.toMatchObject({ code: "too_slow" })
  })

  test("may have a slow reader", async () => {
    const { read } = await readFrom((_, answer) => {
      answer.writeHead(200)
      answer.write("abc")
      setTimeout(() => answer.end("def"), 50)
    }, 700)
    expect(read).toBe("abcdef")
  })

  test("is requested again without a response, and is finally too slow", async () => {
    const reading = readFrom(() => undefined)
    await expect(reading).rejects.toMatchObject({ code: "too_slow" })
  })
})
