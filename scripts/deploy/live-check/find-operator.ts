import type { Operator } from "../../keys/operator.ts"
import { CliError } from "../../local/cli-error.ts"
import { deploymentsNamed, findOperatorToken } from "../../local/deployment-record.ts"
import { storedSecrets } from "../../local/secrets.ts"
import { readServiceConfig } from "../../local/service-config.ts"

/**
 * The service that is to be checked, and its operator token: the one at an origin, else the deployment
 * that this machine has made. Asks no service; throws a CliError that says what is missing.
 */
export function findCheckedService(
  environment: NodeJS.ProcessEnv,
  wantedOrigin: string | null,
): Operator {
  const { stateDir, origin: ownOrigin } = readServiceConfig(environment)
  const origin = wantedOrigin ?? findDeployment(environment, stateDir)
  const isLocal = origin === ownOrigin
  const token =
    environment["OPERATOR_TOKEN"] ??
    findOperatorToken(stateDir, origin) ??
    (isLocal ? storedSecrets(stateDir)?.OPERATOR_TOKEN : undefined)
  if (token) return { origin, token, isLocal }
  throw new CliError(
    `This machine keeps no operator token of ${origin}: set OPERATOR_TOKEN, or STATE_DIR to the folder of its state.`,
  )
}

function findDeployment(environment: NodeJS.ProcessEnv, stateDir: string): string {
  const { LATHE_NAME: name = "lathe", CLOUDFLARE_ACCOUNT_ID: account } = environment
  const found = deploymentsNamed(stateDir, name).filter(
    ({ accountId }) => !account || accountId === account,
  )
  const [first, ...others] = found
  if (!first) {
    throw new CliError(
      `This machine has not deployed "${name}": name the service by --check --origin URL, and set OPERATOR_TOKEN to its token.`,
    )
  }
  if (others.length === 0) return first.origin
  const accounts = found.map(({ accountId }) => accountId).join(", ")
  throw new CliError(
    `"${name}" is deployed to several accounts: set CLOUDFLARE_ACCOUNT_ID to one of ${accounts}.`,
  )
}
