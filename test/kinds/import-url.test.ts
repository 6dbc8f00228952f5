import { describe, expect, it } from "vitest"
import { fileNameFromImportUrl, parseImportUrl } from "../../src/kinds/import-url.ts"

const RULES = { origin: "http://127.0.0.1:8787", allowedHosts: ["127.0.0.1:9000"], sites: [] }

describe("the URL of an import", () => {
  it.each([
    ["https://a.example/x/film.mp4#t=3", "https://a.example/x/film.mp4", "film.mp4"],
    ["HTTPS://A.Example:443/x/../%66ilm.mp4?q=1", "https://a.example/%66ilm.mp4?q=1", "film.mp4"],
    ["https://a.example", "https://a.example/", "file"],
    ["https://a.example/a%2Fb%5Cc.mp4", "https://a.example/a%2Fb%5Cc.mp4", "c.mp4"],
    ["https://a.example/%e4.mp4", "https://a.example/%e4.mp4", "%e4.mp4"],
    ["http://127.0.0.1:9000/x.mp4", "http://127.0.0.1:9000/x.mp4", "x.mp4"],
  ])("%s has one normalized URL and one name", (text, url, name) => {
    const sourceUrl = text.replace(/#.*/, "")
    expect(parseImportUrl(text, RULES)).toEqual({ url, sourceUrl, name })
  })

  it.each([
    ["http://127.0.0.1:8787/v1/files/x/a.mp4", /URL of this service/],
    ["http://localhost:8787/", /URL of this service/],
    ["http://[::1]:8787/", /URL of this service/],
    ["svc_id://0197a6d2-6f7c-7c33-9b1e-3f2a8c5d4e10", /URL of this service/],
    ["http://127.0.0.1:9001/x.mp4", /public host/],
    ["https://a.example/a b", /write `https:\/\/a.example\/a%20b`/],
    ["file:///etc/passwd", /own machine/],
  ])("%s is refused", (text, why) => {
    const read = parseImportUrl(text, RULES)
    expect("error" in read && read.error).toMatch(why)
  })

  it("must belong to the operator's sites or their subdomains, if any are set", () => {
    const rules = { ...RULES, sites: ["a.example"] }
    expect(parseImportUrl("https://cdn.a.example/x", rules)).toHaveProperty("url")
    const read = parseImportUrl("https://bad-a.example/x", rules)
    expect("error" in read && read.error).toMatch(/operator .* "bad-a.example"/)
  })

  it.each([
    ["s3://films/a b/50%25 #1?.mp4", "50% #1?.mp4"],
    ["S3://films/a%2Fb.mp4", "b.mp4"],
    ["s3://films/100%.mp4", "100%.mp4"],
  ])("%s is kept literally for a bucket of the operator", (text, name) => {
    const read = parseImportUrl(text, { ...RULES, buckets: ["others", "films"] })
    expect(read).toEqual({ url: text, sourceUrl: text, name })
    expect(fileNameFromImportUrl(text)).toBe(name)
  })

  it("is refused for any other bucket, without naming the operator's", () => {
    for (const buckets of [["others"], ["film"], []]) {
      const read = parseImportUrl("s3://films/a.mp4", { ...RULES, buckets })
      expect("error" in read && read.error).toMatch(/S3_SOURCES\), and "films" is not one of them$/)
    }
  })

  it("is refused for every bucket if only web URLs are allowed", () => {
    expect(parseImportUrl("s3://films/a.mp4", RULES)).toEqual({
      error: "expected an http or https URL",
    })
  })
})
