import type { WriteStream } from "node:tty"

const WIDTH = 40
const LABEL = "Progress  "

/**
 * Creates a progress display: on a terminal, a bar that is redrawn; in other output, a row of
 * percentages.
 */
export function createProgressBar(out: WriteStream) {
  let shown = -1
  return {
    show(percent: number): void {
      const whole = Math.floor(percent)
      if (whole <= shown) return
      const filled = Math.round((whole / 100) * WIDTH)
      const bar = "█".repeat(filled) + "░".repeat(WIDTH - filled)
      if (out.isTTY) out.write(`\r${LABEL}${bar} ${whole} %`)
      else out.write(shown < 0 ? `${LABEL}${whole} %` : ` ${whole} %`)
      shown = whole
    },
    end(): void {
      out.write("\n")
    },
  }
}
