import { describe, expect, it } from "vitest"
import { corsOrigins } from "../src/cors-origins.ts"

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
  ])("takes %j", (text, origins) => {
    expect(corsOrigins.parse(text)).toEqual(origins)
  })

  it.each([
    ["https://app.example.com/", "write https://app.example.com"],
    ["https://App.example.com", "write https://app.example.com"],
    ["https://app.example.com:443", "write https://app.example.com"],
    ["https://app.example.com/page?x", "write https://app.example.com"],
    ["https://user@app.example.com", "write https://app.example.com"],
    ["app.example.com", '"app.example.com" is no origin such as https://app.example.com'],
    ["app.example.com:443", "is no origin"],
    ["https://", "is no origin"],
    ["null", "is no origin"],
    ["https://*.example.com", "is no origin"],
    ["capacitor://localhost/", "is no origin"],
    ["app.example.com", "write https://app.example.com"],
    ["localhost:5173", "write http://localhost:5173"],
    ["https://*.example.com", "name each, by commas"],
    [
      "https://a.example https://b.example",
      "a comma between two, as in https://a.example,https://b",
    ],
    [
      "https://a.example;https://b.example",
      "a comma between two, as in https://a.example,https://b",
    ],
    ["https://a.example;", "is no origin: put a comma"],
  ])("says of %j what is wrong", (text, words) => {
    const { error } = corsOrigins.safeParse(`https://fine.example,${text}`)
    expect(error?.issues.map(({ message }) => message)).toEqual([expect.stringContaining(words)])
    expect(error?.issues[0]?.message).toContain(text)
  })
})
