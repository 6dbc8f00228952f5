import { json } from "./mistake.ts"
import type { Mistake } from "./mistake.ts"

/** A text that is no JSON as the body of a create. */
function broken(mistake: string, body: string, words: string[]): Mistake {
  const [path, status, field, code] = ["/commands", 422, "body", "invalid_field"] as const
  return { mistake, path, init: json(body), status, field, code, words }
}

const TEXTS: Mistake[] = [
  broken("a comma too many", '{\n "a": 1,\n}', [
    "line 2, column 8",
    "take out the comma before `}`",
  ]),
  broken("single quotes", "{'a': 1}", ['column 2: write `"`']),
  broken("a name without quotes", "{a: 1}", ['put the name into double quotes: `"a"`']),
  broken("a word of Python", '{"a": None}', ["write `null` for `None`"]),
  broken("a quote within a text", '{"a": "-vf "x" y"}', ['write a quote within a text as `\\"`']),
  broken("nothing at all", "", ["the body is empty"]),
  broken("a name of a file", "@body.json", ["--data-binary @body.json"]),
]

/** Bodies that cannot be read, or whose values are of another type. */
export const BODY_MISTAKES = [...TEXTS]
