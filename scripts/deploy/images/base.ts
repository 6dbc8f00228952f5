import { BASE_IMAGE } from "../../image/docker.ts"
import { CliError } from "../../local/cli-error.ts"
import { tailOf } from "../run-program.ts"
import { PLATFORM, readDigest, runDocker } from "./docker.ts"

/**
 * The newest base image, by its digest; where its registry does not answer, the one that was used last, if
 * there is one.
 */
export async function findBase(last: string | undefined): Promise<string> {
  const pull = await runDocker(["pull", "--platform", PLATFORM, BASE_IMAGE])
  const digest = pull.isOk ? await readDigest(BASE_IMAGE) : null
  if (digest !== null) return `${BASE_IMAGE}@${digest}`
  if (last !== undefined) {
    console.log(`The registry of ${BASE_IMAGE} does not answer: the base of the last image stays.`)
    return last
  }
  throw new CliError(`Docker does not get the base image ${BASE_IMAGE}:\n${tailOf(pull)}`)
}
