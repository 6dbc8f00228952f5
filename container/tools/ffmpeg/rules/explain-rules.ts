import { REFUSED_INPUT_RULES } from "../unreadable-inputs.ts"
import { ENCODER_EXPLAIN_RULES, FALLBACK_ENCODER_EXPLAIN_RULES } from "./encoders.ts"
import { EXPRESSION_EXPLAIN_RULES } from "./expressions.ts"
import { FILE_EXPLAIN_RULES } from "./files.ts"
import { FILTER_EXPLAIN_RULES } from "./filters.ts"
import { FORMAT_EXPLAIN_RULES } from "./formats.ts"
import { GRAPH_EXPLAIN_RULES } from "./graphs.ts"
import { NAME_EXPLAIN_RULES } from "./names.ts"
import type { ExplainRule } from "./explain-rule.ts"
import { STREAM_EXPLAIN_RULES } from "./streams.ts"
import { FALLBACK_VALUE_EXPLAIN_RULES, VALUE_EXPLAIN_RULES } from "./values.ts"

/** Rules that explain failures of ffmpeg because of a lack of disk space, memory or threads. */
const MACHINE_RULES: readonly ExplainRule[] = [
  {
    code: "disk_full",
    blame: "ours",
    pattern: /No space left on device|Disk quota exceeded/,
    sentence: () => "The disk has no space left.",
  },
  {
    code: "out_of_memory",
    pattern: /Cannot allocate memory|malloc of size \d+ failed/,
    sentence: () => "The command exceeds the memory limit.",
  },
  {
    code: "process_limit",
    pattern: /pthread_create\S* failed|Resource temporarily unavailable/,
    sentence: () => "The command exceeds its limit of threads.",
  },
]

/**
 * All rules that explain failures of ffmpeg by its messages, in the order in which they are tried.
 * The first rule that matches gives the error sentence. The rules cover the messages of ffmpeg 5 to
 * 8.
 */
export const EXPLAIN_RULES: readonly ExplainRule[] = [
  ...MACHINE_RULES,
  ...REFUSED_INPUT_RULES,
  ...NAME_EXPLAIN_RULES,
  ...STREAM_EXPLAIN_RULES,
  ...VALUE_EXPLAIN_RULES,
  ...EXPRESSION_EXPLAIN_RULES,
  ...ENCODER_EXPLAIN_RULES,
  ...GRAPH_EXPLAIN_RULES,
  ...FILTER_EXPLAIN_RULES,
  ...FORMAT_EXPLAIN_RULES,
  ...FALLBACK_ENCODER_EXPLAIN_RULES,
  ...FILE_EXPLAIN_RULES,
  ...FALLBACK_VALUE_EXPLAIN_RULES,
]
