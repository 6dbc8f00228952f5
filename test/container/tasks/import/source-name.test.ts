import { describe, expect, test } from "vitest"
import { readSourceNameAndType } from "../../../../container/tasks/import/source-name.ts"

function nameOf(url: string, disposition?: string, type: string | null = "video/mp4"): string {
  return readSourceNameAndType(new URL(url, "http://a.example"), disposition, type).name
}

/** Returns a header as Node decodes it: bytes of UTF-8 as Latin-1. */
function latin1(text: string): string {
  return Buffer.from(text).toString("latin1")
}

describe("the name of a source", () => {
  test.for([
    ["/films/a.mp4", "a.mp4"],
    ["/films/a.mp4?name=b.mp4#c", "a.mp4"],
    ["/St%C3%BCck%201.mp4", "Stück 1.mp4"],
    ["/a%2Fb%5Cc.mp4", "c.mp4"],
    ["/100%.mp4", "100%.mp4"],
    ["/films/", "films.mp4"],
    ["/", "download.mp4"],
    ["/film", "film.mp4"],
    ["/..%2f..%2f.htaccess", "htaccess.mp4"],
    ["/a%00b%0d%0a.mp4", "ab.mp4"],
    ["/a%E2%80%AE4pm.exe.mp4", "a4pm.exe.mp4"],
  ])("comes from the path %s", ([path = "", name]) => {
    expect(nameOf(path)).toBe(name)
  })

  test.for([
    ['attachment; filename="b.mp4"', "b.mp4"],
    ["attachment; filename=b.mp4", "b.mp4"],
    ['inline; filename="b.mp4"', "b.mp4"],
    [`attachment; filename="x.mp4"; filename*=UTF-8''St%C3%BCck.mp4`, "Stück.mp4"],
    [latin1('attachment; filename="Stück.mp4"'), "Stück.mp4"],
    ['attachment; filename="St%C3%BCck.mp4"', "Stück.mp4"],
    ['attachment; filename="=?UTF-8?B?U3TDvGNrLm1wNA==?="', "Stück.mp4"],
    ['attachment; filename="=?utf-8?Q?St=C3=BCck_1.mp4?="', "Stück 1.mp4"],
    ['attachment; filename="C:\\\\films\\\\b.mp4"', "b.mp4"],
    ['attachment; filename="../../b.mp4"', "b.mp4"],
    ['attachment; filename=""', "a.mp4"],
    ["attachment", "a.mp4"],
    [";;;=", "a.mp4"],
  ])("comes from %j", ([disposition, name]) => {
    expect(nameOf("/a.mp4", disposition)).toBe(name)
  })

  test("has at most 200 bytes with its extension, and only whole characters", () => {
    const name = nameOf(`/${"ü".repeat(300)}.webm`)
    expect(name).toBe(`${"ü".repeat(97)}.webm`)
    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(200)
  })
})

describe("the type of a source", () => {
  test.for([
    ["/a.mp4", "video/webm", "video/webm"],
    ["/a.mp4", null, "video/mp4"],
    ["/a.mp4", "application/octet-stream", "video/mp4"],
    ["/a.mp4", "text/plain", "video/mp4"],
    ["/a.txt", "text/plain", "text/plain"],
    ["/a", null, "application/octet-stream"],
    ["/a", "binary/octet-stream", "binary/octet-stream"],
  ] as const)("at %s with Content-Type %s is %s", ([path, given, type]) => {
    const named = readSourceNameAndType(new URL(path, "http://a.example"), undefined, given)
    expect(named.contentType).toBe(type)
  })
})
