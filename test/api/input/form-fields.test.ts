import { describe, expect, it } from "vitest"
import { z } from "zod"
import { makeFormParser, makeFormSchema } from "../../../src/api/input/form-fields.ts"

const size = z.object({ width: z.int() }).meta({ id: "SizeOfTheTest" })

const request = z
  .strictObject({
    file_url: z.string(),
    word: z.enum(["one", "two"]).nullish(),
    number: z.number().default(1),
    whole: z.int().nullish(),
    flag: z.boolean().optional(),
    pairs: z.record(z.string(), z.string()).nullish(),
    list: z.array(z.string()).optional(),
    either: z.union([z.string(), z.array(z.string())]).optional(),
    wrapped: z.preprocess((value) => value, z.string()).optional(),
    size: size.optional(),
  })
  .meta({ id: "RequestOfTheTest" })

describe("form fields", () => {
  it.each([
    ["word", "one", "one"],
    ["word", "1", "1"],
    ["number", "-23.5", -23.5],
    ["number", "1e2", 100],
    ["whole", "7", 7],
    ["whole", "null", null],
    ["flag", "true", true],
    ["pairs", '{"a":"b"}', { a: "b" }],
    ["list", '["a"]', ["a"]],
    ["size", '{"width":2}', { width: 2 }],
    ["either", '["a"]', '["a"]'],
    ["wrapped", "1", "1"],
    ["nothing", "1", "1"],
  ])("are converted to the types of the schema: %s=%s", (name, text, value) => {
    expect(makeFormParser(request)({ [name]: text })).toEqual({ [name]: value })
  })

  it.each(["loud", "", "0x10", "+5", "1,5", "{"])(
    "stay strings if they are no valid value: %j",
    (text) => {
      for (const name of ["number", "whole", "flag", "pairs", "list"]) {
        expect(makeFormParser(request)({ [name]: text })).toEqual({ [name]: text })
      }
    },
  )
})

describe("the schema of a form", () => {
  const form = makeFormSchema(request, "file_url")

  it("has the fields of the request, a file, and objects as texts", () => {
    const texts = { pairs: "{}", list: "[]", size: "{}" }
    const given = { file: "bytes", word: "one", number: 2, whole: 3, flag: false, ...texts }
    expect(form.parse(given)).toEqual(given)
    expect(form.parse({ file_url: "x" })).toEqual({ file_url: "x", number: 1 })
  })

  it.each([{ word: null }, { pairs: {} }, { colour: "red" }])("refuses %j", (given) => {
    expect(form.safeParse({ file: "bytes", ...given }).success).toBe(false)
  })

  it("requires a schema with fields", () => {
    expect(() => makeFormSchema(z.array(z.string()), "file_url")).toThrow(/must be an object/)
  })
})
