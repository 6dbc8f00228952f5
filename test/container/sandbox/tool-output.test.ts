import { once } from "node:events"
import { Readable } from "node:stream"
import { expect, test } from "vitest"
import { TOOL_LINE_BYTES_MAX, readStreamLines } from "../../../container/sandbox/tool-output.ts"

async function linesOf(chunks: Iterable<Buffer | string>): Promise<string[]> {
  const lines: string[] = []
  const stream = Readable.from(chunks, { objectMode: false })
  readStreamLines(stream, (line) => lines.push(line))
  await once(stream, "end")
  return lines
}

function* repeat(chunk: Buffer, times: number) {
  for (let i = 0; i < times; i++) yield chunk
}

test("lines end at a line feed, a carriage return or both", async () => {
  expect(await linesOf(["one\ntwo\r\nthree\rfour\n\nfi", "ve\r", "\nsix"])).toEqual([
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
  ])
})

test("a character split across two chunks stays whole", async () => {
  const [first, second] = [Buffer.from([0x61, 0xc3]), Buffer.from([0xa4, 0x0a])]
  expect(await linesOf([first, second])).toEqual(["aä"])
})

test("the head of a line longer than any string is kept, and so is the next line", async () => {
  const mebibyte = Buffer.alloc(1024 ** 2, "x")
  function* endless() {
    yield* repeat(mebibyte, 520)
    yield Buffer.from("\nnext\n")
  }
  expect(await linesOf(endless())).toEqual(["x".repeat(TOOL_LINE_BYTES_MAX), "next"])
})
