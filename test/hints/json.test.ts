import { describe, expect, it } from "vitest"
import { describeBrokenJson } from "../../src/hints/json.ts"

describe("the fault of malformed JSON", () => {
  it.each([
    ['{\n "a": {"b": 1,},\n}', "line 2, column 14: remove the comma before `}`"],
    ["[1, 2,]", "line 1, column 6: remove the comma before `]`"],
    ['{"a":1,,"b":2}', "column 7: remove the comma before `,`"],
    ['{,"a":1}', "column 2: remove the comma"],
    ["{'a': 1}", "column 2: write `\"` instead of `'`"],
    ["{“a”: 1}", 'column 2: write `"` instead of `“`'],
    ['{"a": ‘b’}', 'column 7: write `"` instead of `‘`'],
    ['{a_b: "x"}', 'column 2: put the name in double quotes: `"a_b"`'],
    ['{"a": True}', "column 7: write `true` instead of `True`"],
    ['{"a": None}', "column 7: write `null` instead of `None`"],
    ['{"a": undefined}', "write `null` instead of `undefined`"],
    ['{"a": 1\n "b": 2}', "line 2, column 2: a comma is missing before this character"],
    ['{"a": "x"\n "b": 2}', "line 2, column 2: a comma is missing before this character"],
    [
      '{"a": "-vf "scale=1:2" x"}',
      'column 13: the string ends before this character: write a quote within a string as `\\"`',
    ],
    ['{"a": 1', "column 8: the JSON ends too early: `}` is missing"],
    ['{"a": [1, {"b": 2', "the JSON ends too early: `}` `]` `}` are missing"],
    ['{"a": "b', 'the body ends within a string: its closing `"` is missing'],
    ['{"a": "b\nc"}', "line 1, column 9: a string cannot span lines: write a line break as `\\n`"],
    ['{"a": "b\tc"}', "write a tab within a string as `\\t`"],
    ['{"a": "C:\\Users"}', "column 10: write a backslash within a string as `\\\\`, as in `\\\\U`"],
    ['{"a": 1 // c\n}', "remove the comment: JSON has no comments"],
    ["# c\n{}", "line 1, column 1: remove the comment"],
    ['{"a": .5}', "`.5` is not a JSON number"],
    ['{"a": 01}', "`01` is not a JSON number"],
    ['{"a" = 1}', "column 6: write `:` between a name and its value, not `=`"],
    ['{"a": }', "expected a value ("],
    ['{"a": hello}', "put the string that begins at `hello` in double quotes"],
    ['{"a": <id>}', "replace `<id>` by a value"],
    ['{"a": ${ID}}', "replace `${ID}` by a value"],
    ['{"a": ...}', "replace `...` by a value"],
    ['{"a": 1;}', "expected a comma or a closing bracket instead of `;`"],
    ['{"a": [1}', "write `]` instead of `}`, or close the inner value first"],
    ['{"a": 1}}', "column 9: remove the text after the end of the JSON, from `}` on"],
    ['{"a": 1} {"b": 2}', "remove the text after the end of the JSON"],
    ["{\u00a0}", "remove the invisible character"],
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
    ["%7B%22a%22%3A1%7D", "the body is URL-encoded"],
    ["\u001f\ufffd\b\0", "the body is compressed"],
    ["\ufffd\ufffd{\0}\0", "encode it as UTF-8"],
  ])("%j is another format", (text, words) => {
    expect(describeBrokenJson(text)).toContain("expected JSON, but")
    expect(describeBrokenJson(text)).toContain(words)
  })

  it("has a position exactly if JSON.parse finds a fault", () => {
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
  ])("is found in a body that only consists of %s", (_, text) => {
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
