import type { D1Migration } from "@cloudflare/vitest-plugin"
import type * as worker from "../../src/index.ts"
import type { Env as WorkerEnv } from "../../src/bindings/env.ts"

declare global {
  namespace Cloudflare {
    interface Env extends WorkerEnv {
      TEST_MIGRATIONS: D1Migration[]
    }

    interface GlobalProps {
      mainModule: typeof worker
    }
  }
}
