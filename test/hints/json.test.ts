import { describe, expect, it } from "vitest"
import { describeBrokenJson } from "../../src/hints/json.ts"

describe("what is wrong with a text that is no JSON", () => {
  it.each([
    ['{\n "a": {"b": 1,},\n}', "line 2, column 14: take out the comma before `}`"],
    ["[1, 2,]", "line 1, column 6: take out the comma before `]`"],
    ['{"a":1,,"b":2}', "column 7: take out the comma before `,`"],
    ['{,"a":1}', "column 2: take out the comma"],
    ["{'a': 1}", "column 2: write `\"` for `'`"],
    ["{“a”: 1}", 'column 2: write `"` for `“`'],
    ['{"a": ‘b’}', 'column 7: write `"` for `‘`'],
    ['{a_b: "x"}', 'column 2: put the name into double quotes: `"a_b"`'],
    ['{"a": True}', "column 7: write `true` for `True`"],
    ['{"a": None}', "column 7: write `null` for `None`"],
    ['{"a": undefined}', "write `null` for `undefined`"],
    ['{"a": 1\n "b": 2}', "line 2, column 2: a comma is missing before it"],
    ['{"a": "x"\n "b": 2}', "line 2, column 2: a comma is missing before it"],
    [
      '{"a": "-vf "scale=1:2" x"}',
      'column 13: the text ends before it: write a quote within a text as `\\"`',
    ],
    ['{"a": 1', "column 8: it ends too early: `}` is missing"],
    ['{"a": [1, {"b": 2', "it ends too early: `}` `]` `}` are missing"],
    ['{"a": "b', 'it ends within a text: the `"` after it is missing'],
    [
      '{"a": "b\nc"}',
      "line 1, column 9: a text ends on its line: write a line break in it as `\\n`",
    ],
    ['{"a": "b\tc"}', "write a tab within a text as `\\t`"],
    ['{"a": "C:\\Users"}', "column 10: write a backslash within a text as `\\\\`, as in `\\\\U`"],
    ['{"a": 1 // c\n}', "take out the comment: JSON has none"],
    ["# c\n{}", "line 1, column 1: take out the comment"],
    ['{"a": .5}', "`.5` is no number of JSON"],
    ['{"a": 01}', "`01` is no number of JSON"],
    ['{"a" = 1}', "column 6: write `:` between a name and its value, and not `=`"],
    ['{"a": }', "a value is missing"],
    ['{"a": hello}', "put the text into double quotes: it begins at `hello`"],
    ['{"a": <id>}', "write a value in the place of `<id>`"],
    ['{"a": ${ID}}', "write a value in the place of `${ID}`"],
    ['{"a": ...}', "write a value in the place of `...`"],
    ['{"a": 1;}', "expected a comma or the end of what is open, and there is `;`"],
    ['{"a": [1}', "write `]` for `}`, or close what is within first"],
    ['{"a": 1}}', "column 9: take out what follows the end of the JSON, from `}` on"],
    ['{"a": 1} {"b": 2}', "take out what follows the end of the JSON"],
    ["{\u00a0}", "take out the invisible character"],
    ['{"é": x}', "line 1, column 7:"],
  ])("%s", (text, words) => {
    expect(describeBrokenJson(text)).toMatch(/^expected JSON; line \d+, column \d+: /)
    expect(describeBrokenJson(text)).toContain(words)
  })

  it.each([
    ["", "the body is empty"],
    [" \n", "the body is empty"],
    ["@body.json", "`--data-binary @body.json`"],
    ["[object Object]", "`JSON.stringify(body)`"],
    ["a=1&b=2", 'the body is a form: write `{"a": …}`'],
    ["a: 1\nb: 2", 'the body is YAML: write `{"a": …}`'],
    ["<html>", "HTML"],
    ["%7B%22a%22%3A1%7D", "encoded as in a URL"],
    ["\u001f\ufffd\b\0", "the body is compressed"],
    ["\ufffd\ufffd{\0}\0", "save it as UTF-8"],
  ])("%j is another format", (text, words) => {
    expect(describeBrokenJson(text)).toContain(`expected JSON, and`)
    expect(describeBrokenJson(text)).toContain(words)
  })

  it("has a place wherever JSON.parse finds a fault, and nowhere else", () => {
    const whole = '{"a": [1, -2.5e3, true, null, "x\\"y\\n", {}], "b": {"c": [[], ""]}, "é": "ü"}'
    const inserts = [
      "",
      "{",
      "}",
      "[",
      "]",
      ",",
      ":",
      '"',
      "'",
      "\\",
      "\n",
      "0",
      ".",
      "-",
      "e",
      "x",
    ]
    for (let at = 0; at < whole.length; at += 1) {
      for (const taken of [0, 1, 2]) {
        for (const insert of inserts) {
          const text = whole.slice(0, at) + insert + whole.slice(at + taken)
          expect([text, isJson(text)]).toEqual([text, !hasPlace(text)])
        }
      }
    }
  })

  it.each([
    ["brackets", "[".repeat(2 ** 20)],
    ["names", '{"a":'.repeat(170_000)],
    ["items", `${"[1,".repeat(340_000)}x`],
    ["digits", "1".repeat(2 ** 20)],
    ["blanks", `${" ".repeat(2 ** 20)}x`],
  ])("is found in a body of nothing but %s", (_, text) => {
    expect(hasPlace(text) || isJson(text)).toBe(true)
    expect(describeBrokenJson(text).length).toBeLessThan(400)
  })
})

function hasPlace(text: string): boolean {
  return describeBrokenJson(text).startsWith("expected JSON; line ")
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
