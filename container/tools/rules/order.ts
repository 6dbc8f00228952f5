import { UNREADABLE_RULES } from "../unreadable.ts"
import { ENCODER_RULES, OTHER_ENCODER_RULES } from "./encoders.ts"
import { EXPRESSION_RULES } from "./expressions.ts"
import { FILE_RULES } from "./files.ts"
import { FILTER_RULES } from "./filters.ts"
import { FORMAT_RULES } from "./formats.ts"
import { GRAPH_RULES } from "./graphs.ts"
import { MACHINE_RULES } from "./machine.ts"
import { NAME_RULES } from "./names.ts"
import type { ExplainRule } from "./rule.ts"
import { STREAM_RULES } from "./streams.ts"
import { OTHER_VALUE_RULES, VALUE_RULES } from "./values.ts"

/**
 * All rules in the order in which they are tried; the first match explains. They hold for ffmpeg 5
 * to 8, whose messages differ.
 */
export const EXPLAIN_RULES: readonly ExplainRule[] = [
  ...MACHINE_RULES,
  ...UNREADABLE_RULES,
  ...NAME_RULES,
  ...STREAM_RULES,
  ...VALUE_RULES,
  ...EXPRESSION_RULES,
  ...ENCODER_RULES,
  ...GRAPH_RULES,
  ...FILTER_RULES,
  ...FORMAT_RULES,
  ...OTHER_ENCODER_RULES,
  ...FILE_RULES,
  ...OTHER_VALUE_RULES,
]
