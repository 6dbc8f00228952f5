import { describe, expect, it } from "vitest"
import { corsOriginsSchema } from "../../src/bindings/cors-origins.ts"

describe("CORS_ORIGINS", () => {
  it.each([
    [undefined, []],
    ["", []],
    [" , ", []],
    ["*", ["*"]],
    [
      "https://app.example.com, http://localhost:5173",
      ["https://app.example.com", "http://localhost:5173"],
    ],
    ["https://[::1]:8443,capacitor://localhost", ["https://[::1]:8443", "capacitor://localhost"]],
  ])("accepts %j", (text, origins) => {
    expect(corsOriginsSchema.parse(text)).toEqual(origins)
  })

  it.each([
    ["https://app.example.com/", "write https://app.example.com"],
    ["https://App.example.com", "write https://app.example.com"],
    ["https://app.example.com:443", "write https://app.example.com"],
    ["https://app.example.com/page?x", "write https://app.example.com"],
    ["https://user@app.example.com", "write https://app.example.com"],
    [
      "app.example.com",
      '"app.example.com" is not an origin: expected one such as https://app.example.com',
    ],
    ["app.example.com:443", "is not an origin"],
    ["https://", "is not an origin"],
    ["null", "is not an origin"],
    ["https://*.example.com", "is not an origin"],
    ["capacitor://localhost/", "is not an origin"],
    ["app.example.com", "write https://app.example.com"],
    ["localhost:5173", "write http://localhost:5173"],
    ["https://*.example.com", "list each origin"],
    [
      "https://a.example https://b.example",
      "separate origins by commas, as in https://a.example,https://b",
    ],
    [
      "https://a.example;https://b.example",
      "separate origins by commas, as in https://a.example,https://b",
    ],
    ["https://a.example;", "is not an origin: separate origins"],
  ])("explains the fault of %j", (text, words) => {
    const { error } = corsOriginsSchema.safeParse(`https://fine.example,${text}`)
    expect(error?.issues.map(({ message }) => message)).toEqual([expect.stringContaining(words)])
    expect(error?.issues[0]?.message).toContain(text)
  })
})
