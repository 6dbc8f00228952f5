import { describe, expect, it } from "vitest"
import { judgeCookies, tidyCookies } from "../../../src/kinds/fetch/cookies.ts"

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
  ])("are taken %s", (_, text) => {
    expect(judgeCookies(text)).toBeNull()
  })

  it.each([
    ["too few fields", line({}).replace("\ts3cret", ""), "it has 6 fields"],
    ["spaces for tabs", COOKIE.replaceAll("\t", " "), "it has 1 fields"],
    ["no domain", line({ 0: "" }), "its domain"],
    ["a flag that is none", line({ 1: "yes" }), "its second field"],
    ["a flag against its domain", line({ 1: "FALSE" }), "its second field"],
    ["a path without a slash", line({ 2: "x" }), "its path"],
    ["a fourth field that is no flag", line({ 3: "1" }), "its fourth field"],
    ["an end that is no number", line({ 4: "tomorrow" }), "its fifth field"],
    ["a control character", line({ 6: "s3cret\u0000" }), "a control character"],
  ])("are refused with %s: the line is numbered and not shown", (_, bad, message) => {
    const fault = judgeCookies(`${HEADER}\n${COOKIE}\n${bad}`)
    expect(fault).toContain("line 3")
    expect(fault).toContain(message)
    expect(fault).not.toContain("s3cret")
    expect(fault).not.toContain("a.example")
  })

  it("are refused where there are none, or too many", () => {
    expect(judgeCookies("")).toContain("no cookie")
    expect(judgeCookies(`${HEADER}\n# x\n`)).toContain("no cookie")
    expect(judgeCookies(`${COOKIE}\n`.repeat(6000))).toContain("262144 bytes")
  })

  it("get a header and one kind of line end for tools", () => {
    expect(tidyCookies(`${COOKIE}\r\n`)).toBe(`${HEADER}\n${COOKIE}\n\n`)
    expect(tidyCookies(`${HEADER}\n${COOKIE}`)).toBe(`${HEADER}\n${COOKIE}\n`)
  })
})
