import { parseKeysCommand } from "./command.ts"
import type { KeysCommand } from "./command.ts"
import {
  requestOperatorAppointment,
  changePlanAsOperator,
  createKeyAsOperator,
  listKeysAsOperator,
  revokeKeyAsOperator,
  rotateKeyAsOperator,
} from "./operator.ts"
import type { ListedKeyRecord, OperatorAccess } from "./operator.ts"
import { CliError, runScript } from "../cli/cli-error.ts"
import { findOperatorToken } from "../cli/deployment-record.ts"
import { readServiceConfig } from "../cli/service-config.ts"
import { readStoredSecrets } from "../cli/secrets.ts"
import { formatTable } from "../cli/table.ts"

const HEADINGS = "ID,KEY,ACCOUNT,PLAN,NAME,SCOPES,CREATED,LAST USE,EXPIRES,REVOKED".split(",")

await runScript(async () => {
  const command = parseKeysCommand(process.argv.slice(2))
  const operator = findOperator(command.remote)
  await run(command, operator)
})

async function run(command: KeysCommand, operator: OperatorAccess): Promise<void> {
  if (command.kind === "create") {
    const createdKey = await createKeyAsOperator(operator, command.wanted)
    console.log(
      `Key ${createdKey.id} of account ${createdKey.account} (${createdKey.plan}); it is shown only now:`,
    )
    console.log(createdKey.key)
    return
  }
  if (command.kind === "list") {
    console.log(formatKeys(await listKeysAsOperator(operator)))
    return
  }
  if (command.kind === "rotate") {
    const createdKey = await rotateKeyAsOperator(operator, command)
    console.log(`Key ${createdKey.id} replaces ${command.id}; it is shown only now:`)
    console.log(createdKey.key)
    return
  }
  if (command.kind === "plan") {
    const { account, plan } = command
    await changePlanAsOperator(operator, { account, plan })
    console.log(`Account ${account} has the plan ${plan}.`)
    return
  }
  if (command.kind === "operator") {
    const link = await requestOperatorAppointment(operator, command.email)
    console.log(
      `${command.email} is an operator. Set a password by this link, once, within a day; an existing password stays valid until then:`,
    )
    console.log(link)
    return
  }
  await revokeKeyAsOperator(operator, command.id)
  console.log(`Key ${command.id} is revoked.`)
}

function findOperator(remote: string | undefined): OperatorAccess {
  const { origin, stateDir } = readServiceConfig(process.env)
  if (remote !== undefined) {
    const token = process.env["OPERATOR_TOKEN"] ?? findOperatorToken(stateDir, remote)
    if (!token) {
      throw new CliError(
        `This machine has no operator token of ${remote}: set OPERATOR_TOKEN, or make a new one with npm run deploy -- --rotate-operator-token.`,
      )
    }
    return { origin: remote, token, isLocal: false }
  }
  const token = process.env["OPERATOR_TOKEN"] ?? readStoredSecrets(stateDir)?.OPERATOR_TOKEN
  if (!token) {
    throw new CliError(
      `No service has run on the state folder ${stateDir}; start one with npm start, or set STATE_DIR to the folder of the one at ${origin}.`,
    )
  }
  return { origin, token, isLocal: true }
}

/** Formats API keys as a table with headings. A dash stands for a missing value. */
function formatKeys(keys: ListedKeyRecord[]): string {
  return formatTable([HEADINGS, ...keys.map(rowOf)])
}

function rowOf(key: ListedKeyRecord): string[] {
  const { id, prefix, account, plan, name, scopes, created_at } = key
  const moments = [created_at, key.last_used_at, key.expires_at, key.revoked_at]
  return [
    id,
    `${prefix}…`,
    account,
    plan,
    name || "-",
    scopes.join(","),
    ...moments.map((moment) => moment ?? "-"),
  ]
}
