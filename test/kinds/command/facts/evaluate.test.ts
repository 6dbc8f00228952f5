import { describe, expect, test } from "vitest"
import {
  evaluate,
  readExpression,
  readNumber,
} from "../../../../src/kinds/command/facts/evaluate.ts"

const NAMES = { variables: ["iw", "ih"], functions: ["rotw"] }

function valueOf(text: string): number | null | string {
  const read = readExpression(text, NAMES)
  if (read === null) return "too deep"
  return "kind" in read ? evaluate(read, { iw: 320, ih: 240 }) : read.why
}

describe("expressions", () => {
  test.for<[string, number | null]>([
    ["1+2*3", 7],
    ["(1+2)*3", 9],
    ["-2^2", -4],
    ["2^-1", 0.5],
    ["-20dB", 0.1],
    ["1.5M", 1_500_000],
    ["1Ki", 1024],
    ["1kB", 8000],
    ["0xFF", 255],
    ["1e3", 1000],
    ["1 + 1", 2],
    ["iw/2", 160],
    ["trunc(ih/7)*2", 68],
    ["min(iw,ih)", 240],
    ["if(gt(iw,ih),1,2)", 1],
    ["1;2", null],
    ["rotw(1)", null],
    ["random(0)", null],
  ])("%s is %s", ([text, value]) => {
    expect(valueOf(text)).toBe(value)
  })

  test.for<[string, string]>([
    ["", "gap"],
    ["1+", "gap"],
    ["1..2", "rest"],
    ["iw)", "rest"],
    ["(iw", "unclosed"],
    ["min(iw", "unclosed"],
    ["width", "name"],
    ["minimum(1,2)", "function"],
    ["min(1)", "count"],
    ["sin(1,2)", "count"],
    ["between(1,2,3,4)", "count"],
    ["(".repeat(1000), "too deep"],
  ])("%s is none", ([text, why]) => {
    expect(valueOf(text)).toBe(why)
  })

  test("numbers stand alone", () => {
    expect(readNumber("44.1k")).toBe(44_100)
    expect(readNumber("-3dB")).toBeCloseTo(0.708, 3)
    expect(readNumber("25fps")).toBeNull()
    expect(readNumber("1+1")).toBeNull()
  })
})
