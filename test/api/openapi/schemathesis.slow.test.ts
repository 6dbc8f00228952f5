import { beforeAll, expect, it } from "vitest"
import { startServiceProcess } from "../../../scripts/cli/service-process.ts"
import { schemathesisStep } from "../../../scripts/setup/test-tools.ts"
import { ensureSetupSteps } from "../../../scripts/setup/step.ts"
import { runSchemathesis } from "./schemathesis.ts"

const INSTALL_MS_MAX = 600_000
const TEST_MS_MAX = 1_200_000
const REQUESTS_PER_MINUTE = "100000"

beforeAll(async () => await ensureSetupSteps([schemathesisStep]), INSTALL_MS_MAX)

it(
  "answers every request as its OpenAPI document says",
  async () => {
    await using service = await startServiceProcess({
      settings: {
        TRIAL_REQUESTS_PER_MINUTE: REQUESTS_PER_MINUTE,
        PAID_REQUESTS_PER_MINUTE: REQUESTS_PER_MINUTE,
        // The generated requests name made-up URLs; no host on the web may be called.
        REFUSE_PUBLIC_HOSTS: "true",
        FETCH_SITES: "media.invalid",
        RUNNER_CAPACITY: "1",
      },
    })
    const key = await service.makeKey("schemathesis", "paid")
    const { origin } = service
    const documentUrl = `${origin}/v1/openapi.json`
    const { isOk, output } = await runSchemathesis({ documentUrl, origin }, { "X-API-KEY": key })
    expect(isOk ? "" : output).toBe("")
  },
  TEST_MS_MAX,
)
