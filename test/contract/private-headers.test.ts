import { describe, expect, it, test } from "vitest"
import {
  PRIVATE_HEADERS_BYTES_MAX,
  PRIVATE_HEADERS_MAX,
  findPrivateHeaderFaults,
} from "../../src/contract/urls/private-headers.ts"

const SECRET = "a-value-that-nobody-sees"

function headers(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`X-${index}`, "a"]))
}

/** Returns a header with so many bytes of name and value. */
function ofBytes(bytes: number): Record<string, string> {
  return { "X-A": "a".repeat(bytes - "X-A".length) }
}

describe("headers of an input", () => {
  it.each([
    [{ Authorization: "Bearer abc.def~ghi+/=" }],
    [{ authorization: "Basic dXNlcjpwYXNz", "X-Api-Key": "k", Cookie: "a=b; c=d" }],
    [{ "User-Agent": "own", Accept: "video/*", Referer: "https://a.example/", Origin: "null" }],
    [{ "X-Empty": "", "X-Tab": "a\tb", "!#$%&'*+.^_`|~-9": "odd" }],
    [{ "Contents-Key": "a", "X-Range": "a", Connections: "a", Iffy: "a", Tea: "a", Proxied: "a" }],
    [
      Object.fromEntries([
        ["__proto__", "a"],
        ["constructor", "b"],
      ]),
    ],
    [headers(PRIVATE_HEADERS_MAX)],
    [ofBytes(PRIVATE_HEADERS_BYTES_MAX)],
  ])("may be %j", (given) => {
    expect(findPrivateHeaderFaults(given)).toEqual([])
  })

  it.each(
    (
      "Host host Range If-Range If-None-Match Expect Connection Keep-Alive TE Trailer " +
      "Transfer-Encoding Upgrade HTTP2-Settings Proxy-Authorization Proxy-Connection " +
      "Content-Length content-type Content-Encoding Accept-Encoding ACCEPT-ENCODING"
    ).split(" "),
  )("may not have %s", (name) => {
    expect(findPrivateHeaderFaults({ [name]: SECRET })).toEqual([
      { name, message: expect.stringContaining("is not allowed") },
    ])
  })

  test.for<[string, unknown, string | null, RegExp]>([
    ["a text", `Authorization: ${SECRET}`, null, /an object of strings/],
    ["a list", [SECRET], null, /an object of strings/],
    ["null", null, null, /an object of strings/],
    ["none", {}, null, /at least one/],
    ["eleven", headers(PRIVATE_HEADERS_MAX + 1), null, /at most 10 headers, and there are 11/],
    [
      "a byte too many",
      ofBytes(PRIVATE_HEADERS_BYTES_MAX + 1),
      null,
      /at most 4096 bytes .* are 4097/,
    ],
    ["5 KB of several", { "X-A": "a".repeat(2500), "X-B": "b".repeat(2500) }, null, /4096 bytes/],
    ["two letter cases", { "X-Key": "a", "x-kEY": SECRET }, "x-kEY", /exists twice/],
    ["a number", { "X-Key": 12_345_678 }, "X-Key", /^expected a string$/],
    ["a list as a value", { "X-Key": [SECRET] }, "X-Key", /^expected a string$/],
    [
      "a line break",
      { "X-Key": `${SECRET}\r\nHost: evil.example` },
      "X-Key",
      /without line breaks/,
    ],
    ["a line feed", { "X-Key": `${SECRET}\nX-B: c` }, "X-Key", /without line breaks/],
    ["NUL", { "X-Key": `${SECRET}\0` }, "X-Key", /visible ASCII/],
    ["DEL", { "X-Key": `${SECRET}\u007f` }, "X-Key", /visible ASCII/],
    ["unicode", { "X-Key": `${SECRET}é` }, "X-Key", /visible ASCII/],
    ["a wide line break", { "X-Key": `${SECRET}\u010a` }, "X-Key", /visible ASCII/],
    ["a lone surrogate", { "X-Key": `${SECRET}\ud800` }, "X-Key", /visible ASCII/],
    ["an empty name", { "": "a" }, null, /the name of header 1 is invalid/],
    ["a blank in a name", { "X-A": "a", "X B": SECRET }, null, /the name of header 2 is invalid/],
    ["a name with its value", { [`X-A: ${SECRET}`]: "" }, null, /the name of header 1/],
    ["a line break in a name", { [`X-A\r\n${SECRET}`]: "" }, null, /the name of header 1/],
    ["a unicode name", { Authörization: SECRET }, null, /the name of header 1/],
    ["a long s in a name", { "Ho\u017ft": SECRET }, null, /the name of header 1/],
  ])("may not be %s", ([, given, name, message]) => {
    const faults = findPrivateHeaderFaults(given)
    expect(faults).toEqual([{ name, message: expect.stringMatching(message) }])
    expect(JSON.stringify(faults)).not.toContain(SECRET)
    expect(JSON.stringify(faults)).not.toContain("12345678")
  })
})
