import type { Refusal } from "../../kinds/command/policy/refusal.ts"
import { findLineHint, lineOf } from "./line.ts"
import type { LineHint } from "./line.ts"

const QUOTES = String.raw`\u2018-\u201f\u00ab\u00bb`
const EDITED =
  "`$&`: these quotes are letters here, as a text editor makes them; quote with ' or \""

/** Words that cannot mean what was meant, wherever they stand: each is judged alone. */
const WRONG_WORDS: readonly LineHint[] = [
  [
    /(?<=^ )(?:\$\w+|\$\{\w+\}|%[A-Za-z_]\w*%)(?= $)/,
    "`$&`: no shell reads this, so that it would stay as it is; write the value itself, or a key in two braces, as {{in_1}}",
  ],
  [
    new RegExp(
      String.raw`(?<=^ )(?:["'${QUOTES}]*\{\uE000*(?=\w+\uE000*\} )|\{\{(?=\w+\} )|\{(?=\w+\}\} )|\{\{\{(?=\w+\}\}\} ))(\w+)\S*`,
    ),
    "`$&`: a key stands in two braces, as {{in_1}} does; write it as {{$1}}",
  ],
  [new RegExp(`(?<=^ )[${QUOTES}]\\S*`), EDITED, "name_not_allowed"],
]

/** Refusals of words that a shell or a text editor made, or that a shell was to read. */
export function checkWords(words: readonly string[]): Refusal[] {
  return words.flatMap((word, index) => {
    const found = findLineHint(lineOf([word]), WRONG_WORDS, "value_not_allowed")
    const before = words[index - 1] ?? ""
    if (found === null) return []
    return [{ ...found, ...(/^-[a-z]/i.test(before) && { option: before }) }]
  })
}

/** Words that a shell replaces, wherever they stand. */
export const SUBSTITUTIONS: readonly LineHint[] = [
  [
    /(?<= ["']?)(?:\$\([^)]*\)?|`[^` ][^`]*`?)/,
    '"$&": no shell reads this, so that nothing stands there instead; write the value itself',
  ],
  [
    /(?<= )(?:%~[a-z]*\d|%\d(?!\d*[dv])|%%~?[a-z]+(?= ))\S*/i,
    "`$&`: no shell reads this variable; write `$in` for an input and `$out` for an output",
  ],
]

/** Words in the place of files that only a shell reads, or that a text editor made. */
export const SHELL_WORDS: readonly LineHint[] = [
  [
    /(?<= )[\u2010-\u2015\u2212]+(\S+)/,
    "`$&`: this begins with a dash that is no minus sign; write `-$1`",
  ],
  [new RegExp(`(?<= )\\S*[${QUOTES}](?= )`), EDITED],
  [/(?<=^ )ffmpeg(?= )/, "`ffmpeg` stands twice at the beginning; leave one out"],
  [
    /(?<= )\uE000+(?= )/,
    "there is a backslash with a space behind it, and so a word of nothing but space; let the line end right behind the backslash, or leave it out",
  ],
  [/(?<= )(?:&&?|\|\|?|#\S*|\S*;)(?= ffmpeg )/, "`$&`: no shell reads this; $several"],
  [/(?<= |\}\})([;>|&]) (\{\{\w+\}\}) $/, "`$1`: no shell reads this; leave it out before `$2`"],
  [
    /(?<= )[\^`](?= )/,
    '"$&": no shell reads this; leave it out, since a new line needs no mark here',
  ],
  [
    /(?<= )<((?:in|out)_\w+)>/,
    "`$&`: no angle brackets are read here; write a key in two braces, as `{{$1}}`",
  ],
  [
    /(?:(?<= \{\{\w+\}\}| \w+\.\w+);|(?<= )(?:&&?|\|\|?|;|#|<|\d?>|&>)(?=[ /&>\w])).*\S|(?<= )&(?= $)/,
    "`$&`: no shell reads this; leave it out, and end the command with `$out`: only ffmpeg runs here, a job runs on its own, and what ffmpeg prints is kept with the job",
  ],
  [
    /(?<=(?<!-f lavfi (?:-\S+ \S+ ){0,4})-i )(?:testsrc2?|color|smptebars|smptehdbars|rgbtestsrc|nullsrc|sine|anullsrc|aevalsrc)(?:=\S*)?(?= )/,
    "-i: `$&` is a filter that makes its own picture or sound; write `-f lavfi -i $&`",
    "unknown_key",
  ],
]
