import { setTimeout as sleep } from "node:timers/promises"
import type { Command } from "./command.ts"
import { CliError } from "../local/cli-error.ts"
import { beginMove, findAccountId, giveUpMove, stepMove } from "./operator.ts"
import type { Move, Operator } from "./operator.ts"

const ASK_EVERY_MS = 250

const SAID: Record<string, string> = {
  copying: "its rows are being copied; they are read and not written",
  closing: "its rows are copied; nobody reads them for a moment",
  emptying: "it is there; what it left behind is being removed",
  clearing: "it stays; what was copied is being removed",
}

/**
 * Moves an account to another database, or has one that is being moved stay, and says how far that is
 * until it is over; whoever is stopped meanwhile stops only the telling.
 */
export async function moveAccount(
  operator: Operator,
  command: Extract<Command, { kind: "move" | "stay" }>,
): Promise<void> {
  const { account } = command
  const id = await findAccountId(operator, account)
  let move =
    command.kind === "move"
      ? await beginMove(operator, id, command.database)
      : await giveUpMove(operator, id)
  let said = ""
  while (move.state in SAID) {
    const told = tell(move)
    if (told !== said) console.log(`Account ${account}: ${told}.`)
    said = told
    await sleep(ASK_EVERY_MS)
    move = await stepMove(operator, id)
  }
  if (move.state === "stayed" && command.kind === "move") {
    throw new CliError(`Account ${account} stayed in database ${move.from}: ${move.error}.`)
  }
  const database = move.state === "stayed" ? move.from : move.to
  console.log(`Account ${account} is in database ${database}.`)
}

function tell({ state, table }: Move): string {
  return `${SAID[state]}${table === null ? "" : ` (${table})`}`
}
