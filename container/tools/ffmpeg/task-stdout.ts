import { STDOUT_BYTES_MAX } from "../../../src/contract/report.ts"
import type { Warning } from "../../../src/contract/warning.ts"
import { prefixCommandNumber } from "./explain-failure.ts"
import type { CommandPosition } from "./explain-failure.ts"

/** Maximum number of bytes of a command's standard output that the log shows. */
const LOGGED_BYTES_MAX = 16 * 1024
/** Matches control characters that do not occur in text. */
// eslint-disable-next-line no-control-regex -- control characters are what tells media from text
const NO_TEXT = /[\u0000-\u0006\u000e-\u001a\u001c-\u001f]/

/**
 * Collector of the standard output of a task's commands. Keeps the last part of the text of all
 * commands together, and a warning for each command whose output is not text.
 */
export class TaskStdout {
  readonly warnings: Warning[] = []
  #text: string | null = null
  #command = new CommandStdout()

  /** Reads a chunk of the standard output of the current command. */
  read(chunk: Uint8Array): void {
    this.#command.read(chunk)
  }

  /** Ends the current command and returns the log lines for its standard output. */
  end(position: CommandPosition): string[] {
    const { text, bytes } = this.#command.end()
    this.#command = new CommandStdout()
    if (bytes === 0) return []
    if (text === null) {
      const message = `The command wrote ${bytes} bytes to standard output that are not text and were not kept: write them to an output.`
      this.warnings.push({ code: "binary_stdout", message: prefixCommandNumber(position, message) })
      return [`Standard output: ${bytes} bytes, not text`]
    }
    this.#text = lastBytes((this.#text ?? "") + text, STDOUT_BYTES_MAX)
    const logged = lastBytes(text, LOGGED_BYTES_MAX).replace(/\n$/, "")
    return ["Standard output:", ...logged.split(/\r\n|[\r\n]/)]
  }

  /**
   * Last part of the text that all commands have written; undefined if no command has written text.
   */
  get text(): string | undefined {
    return this.#text ?? undefined
  }
}

/** Collects the standard output of one command. Keeps only the last part of the text. */
class CommandStdout {
  #decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
  #text = ""
  #bytes = 0
  #isText = true

  read(chunk: Uint8Array): void {
    this.#bytes += chunk.length
    if (!this.#isText) return
    const text = this.#decode(chunk)
    this.#isText = text !== null && !NO_TEXT.test(text)
    this.#text = this.#isText ? lastCharacters(this.#text + text) : ""
  }

  /**
   * Returns the last part of the text, and the number of bytes that were written. The text is null
   * if the output is not text.
   */
  end(): { text: string | null; bytes: number } {
    return { text: this.#isText ? this.#text : null, bytes: this.#bytes }
  }

  #decode(chunk: Uint8Array): string | null {
    try {
      return this.#decoder.decode(chunk, { stream: true })
    } catch {
      return null
    }
  }
}

/**
 * Cuts a text to its last characters if the text is longer than four times the kept length. Shorter
 * texts stay uncut, so that not every chunk causes a copy.
 */
function lastCharacters(text: string): string {
  return text.length > 4 * STDOUT_BYTES_MAX ? text.slice(-STDOUT_BYTES_MAX) : text
}

/** Returns the last `bytesMax` bytes of a text, without a partial character at the start. */
function lastBytes(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= bytesMax) return text
  return bytes
    .subarray(-bytesMax)
    .toString("utf8")
    .replace(/^\uFFFD{1,3}/, "")
}
