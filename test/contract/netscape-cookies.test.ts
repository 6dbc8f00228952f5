import { describe, expect, it } from "vitest"
import { findCookiesProblem, normalizeCookies } from "../../src/contract/netscape-cookies.ts"

const HEADER = "# Netscape HTTP Cookie File"
const COOKIE = [".a.example", "TRUE", "/", "FALSE", "1893456000", "session", "s3cret"].join("\t")

function line(changes: Record<number, string>): string {
  return COOKIE.split("\t")
    .map((field, index) => changes[index] ?? field)
    .join("\t")
}

describe("cookies in Netscape's format", () => {
  it.each([
    ["with a header", `${HEADER}\n\n${COOKIE}\n`],
    ["without a header", COOKIE],
    ["with the line ends of Windows", `${HEADER}\r\n${COOKIE}\r\n`],
    ["with a cookie that no script sees", `#HttpOnly_${COOKIE}`],
    ["of a session, without an end", line({ 4: "" })],
    ["of one host", line({ 0: "a.example", 1: "FALSE" })],
    ["without a value", line({ 6: "" })],
  ])("are accepted %s", (_, text) => {
    expect(findCookiesProblem(text)).toBeNull()
  })

  it.each([
    ["too few fields", line({}).replace("\ts3cret", ""), "the line has 6 fields"],
    ["spaces for tabs", COOKIE.replaceAll("\t", " "), "the line has 1 fields"],
    ["no domain", line({ 0: "" }), "the first field (domain)"],
    ["a flag that is none", line({ 1: "yes" }), "the second field"],
    ["a flag against the first field (domain)", line({ 1: "FALSE" }), "the second field"],
    ["a path without a slash", line({ 2: "x" }), "the third field (path)"],
    ["a fourth field that is no flag", line({ 3: "1" }), "the fourth field"],
    ["an end that is no number", line({ 4: "tomorrow" }), "the fifth field"],
    ["a control character", line({ 6: "s3cret\u0000" }), "a control character"],
  ])(
    "are refused with %s; the message has the number of the line and not its text",
    (_, bad, message) => {
      const fault = findCookiesProblem(`${HEADER}\n${COOKIE}\n${bad}`)
      expect(fault).toContain("line 3")
      expect(fault).toContain(message)
      expect(fault).not.toContain("s3cret")
      expect(fault).not.toContain("a.example")
    },
  )

  it("are refused if there are none or too many", () => {
    expect(findCookiesProblem("")).toContain("no cookie")
    expect(findCookiesProblem(`${HEADER}\n# x\n`)).toContain("no cookie")
    expect(findCookiesProblem(`${COOKIE}\n`.repeat(6000))).toContain("262144 bytes")
  })

  it("are normalized to a header and uniform line ends", () => {
    expect(normalizeCookies(`${COOKIE}\r\n`)).toBe(`${HEADER}\n${COOKIE}\n\n`)
    expect(normalizeCookies(`${HEADER}\n${COOKIE}`)).toBe(`${HEADER}\n${COOKIE}\n`)
  })
})
