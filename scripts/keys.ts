import { formatKeys } from "./keys/key-table.ts"
import { parseCommand } from "./keys/command.ts"
import type { Command } from "./keys/command.ts"
import {
  appointOperator,
  changePlan,
  createKey,
  listKeys,
  revokeKey,
  rotateKey,
} from "./keys/operator.ts"
import type { Operator } from "./keys/operator.ts"
import { CliError, runScript } from "./local/cli-error.ts"
import { findOperatorToken } from "./local/deployment-record.ts"
import { readServiceConfig } from "./local/service-config.ts"
import { storedSecrets } from "./local/secrets.ts"

await runScript(async () => {
  const command = parseCommand(process.argv.slice(2))
  const operator = findOperator(command.remote)
  await run(command, operator)
})

async function run(command: Command, operator: Operator): Promise<void> {
  if (command.kind === "create") {
    const made = await createKey(operator, command.wanted)
    console.log(`Key ${made.id} of account ${made.account} (${made.plan}); it is shown only now:`)
    console.log(made.key)
    return
  }
  if (command.kind === "list") {
    console.log(formatKeys(await listKeys(operator)))
    return
  }
  if (command.kind === "rotate") {
    const made = await rotateKey(operator, command)
    console.log(`Key ${made.id} takes the place of ${command.id}; it is shown only now:`)
    console.log(made.key)
    return
  }
  if (command.kind === "plan") {
    const { account, plan } = command
    await changePlan(operator, { account, plan })
    console.log(`Account ${account} has the plan ${plan}.`)
    return
  }
  if (command.kind === "operator") {
    const link = await appointOperator(operator, command.email)
    console.log(
      `${command.email} is an operator. Set a password by this link, once, within a day; one that is set counts until then:`,
    )
    console.log(link)
    return
  }
  await revokeKey(operator, command.id)
  console.log(`Key ${command.id} is revoked.`)
}

function findOperator(remote: string | undefined): Operator {
  const { origin, stateDir } = readServiceConfig(process.env)
  if (remote !== undefined) {
    const token = process.env["OPERATOR_TOKEN"] ?? findOperatorToken(stateDir, remote)
    if (!token) {
      throw new CliError(
        `This machine keeps no operator token of ${remote}: set OPERATOR_TOKEN, or make a new one with npm run deploy -- --rotate-operator-token.`,
      )
    }
    return { origin: remote, token, isLocal: false }
  }
  const token = process.env["OPERATOR_TOKEN"] ?? storedSecrets(stateDir)?.OPERATOR_TOKEN
  if (!token) {
    throw new CliError(
      `No service has run on the state folder ${stateDir}; start one with npm start, or set STATE_DIR to the folder of the one at ${origin}.`,
    )
  }
  return { origin, token, isLocal: true }
}
