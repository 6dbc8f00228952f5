import type { CommandRefusal } from "../../../ffmpeg/policy/refusal.ts"
import { findRefusalByLineHints, joinWordsWithSpaces } from "./line.ts"
import type { LineHint } from "./line.ts"

const QUOTES = String.raw`\u2018-\u201f\u00ab\u00bb`
const EDITED = "`$&`: typographic quotes do not quote; use ' or \""

/** Hints for words that are mistakes in any position of a command. A pattern sees a single word. */
const WRONG_WORDS: readonly LineHint[] = [
  [
    /(?<=^ )(?:\$\w+|\$\{\w+\}|%[A-Za-z_]\w*%)(?= $)/,
    "`$&`: no shell expands this; write the value itself, or a key in double braces, as in {{in_1}}",
  ],
  [
    new RegExp(
      String.raw`(?<=^ )(?:["'${QUOTES}]*\{\uE000*(?=\w+\uE000*\} )|\{\{(?=\w+\} )|\{(?=\w+\}\} )|\{\{\{(?=\w+\}\}\} ))(\w+)\S*`,
    ),
    "`$&`: a key needs double braces; write it as {{$1}}",
  ],
  [new RegExp(`(?<=^ )[${QUOTES}]\\S*`), EDITED, "name_not_allowed"],
]

/** Returns refusals of words with shell variables, wrong braces or typographic quotes. */
export function findWordRefusals(words: readonly string[]): CommandRefusal[] {
  return words.flatMap((word, index) => {
    const found = findRefusalByLineHints(
      joinWordsWithSpaces([word]),
      WRONG_WORDS,
      "value_not_allowed",
    )
    const before = words[index - 1] ?? ""
    if (found === null) return []
    return [{ ...found, ...(/^-[a-z]/i.test(before) && { option: before }) }]
  })
}

/** Hints for substitutions that need a shell, such as `$(date)`, in any position of a command. */
export const SHELL_SUBSTITUTION_HINTS: readonly LineHint[] = [
  [/(?<= ["']?)(?:\$\([^)]*\)?|`[^` ][^`]*`?)/, '"$&": no shell runs this; write the value itself'],
  [
    /(?<= )(?:%~[a-z]*\d|%\d(?!\d*[dv])|%%~?[a-z]+(?= ))\S*/i,
    "`$&`: no shell expands this variable; write `$in` for an input and `$out` for an output",
  ],
]

/**
 * Hints for words that need a shell, and for characters that a text editor changed. These hints
 * apply only in positions where a command names files.
 */
export const SHELL_WORD_HINTS: readonly LineHint[] = [
  [
    /(?<= )[\u2010-\u2015\u2212]+(\S+)/,
    "`$&`: the first character is a typographic dash; write `-$1`",
  ],
  [new RegExp(`(?<= )\\S*[${QUOTES}](?= )`), EDITED],
  [/(?<=^ )ffmpeg(?= )/, "the command begins with `ffmpeg` twice; leave one out"],
  [
    /(?<= )\uE000+(?= )/,
    "a backslash before a space makes a word of that space; end the line right after the backslash, or leave it out",
  ],
  [/(?<= )(?:&&?|\|\|?|#\S*|\S*;)(?= ffmpeg )/, "`$&`: no shell reads this; $several"],
  [/(?<= |\}\})([;>|&]) (\{\{\w+\}\}) $/, "`$1`: no shell reads this; leave it out before `$2`"],
  [
    /(?<= )[\^`](?= )/,
    '"$&": no shell reads this; leave it out, since a new line needs no continuation character',
  ],
  [/(?<= )<((?:in|out)_\w+)>/, "`$&`: angle brackets mark no key; write `{{$1}}`"],
  [
    /(?:(?<= \{\{\w+\}\}| \w+\.\w+);|(?<= )(?:&&?|\|\|?|;|#|<|\d?>|&>)(?=[ /&>\w])).*\S|(?<= )&(?= $)/,
    "`$&`: no shell reads this; leave it out, and end the command with `$out`: only ffmpeg runs, in the background, and the job keeps its log",
  ],
  [
    /(?<=(?<!-f lavfi (?:-\S+ \S+ ){0,4})-i )(?:testsrc2?|color|smptebars|smptehdbars|rgbtestsrc|nullsrc|sine|anullsrc|aevalsrc)(?:=\S*)?(?= )/,
    "-i: `$&` is a source filter; write `-f lavfi -i $&`",
    "unknown_key",
  ],
]
