import type { Page } from "playwright-core"
import { afterAll, beforeAll } from "vitest"
import { startService } from "../system/service.ts"
import type { TestService } from "../system/service.ts"
import { LACK, openBrowser } from "./browser.ts"
import type { PageOptions } from "./browser.ts"
import { makeUser } from "./users.ts"
import type { TestUser } from "./users.ts"

type LookOptions = Omit<PageOptions, "user">

/** A service with a user, and a browser. */
type Stage = {
  readonly service: TestService
  readonly user: TestUser
  /** A page of the user. */
  openPage(options?: LookOptions): Promise<Page>
  /** A page of nobody. */
  openVisit(options?: LookOptions): Promise<Page>
  /** Disposes of a resource together with the service. */
  use<Resource extends AsyncDisposable>(resource: Resource): Resource
}

/**
 * Opens a service and a browser before the tests of a file, and closes them after the last; neither
 * where there is no browser, whose tests are skipped.
 */
export function useStage(
  settings: Record<string, string> = {},
  person: { isOperator?: boolean } = {},
): Stage {
  const opened = new AsyncDisposableStack()
  let running: Pick<Stage, "service" | "user" | "openVisit"> | null = null
  async function open(): Promise<void> {
    const service = opened.use(await startService(settings))
    const browser = opened.use(await openBrowser())
    const user = await makeUser(service, person)
    running = {
      service,
      user,
      openVisit: async (options: PageOptions = {}) => await browser.openPage(service, options),
    }
  }
  if (LACK === null) beforeAll(open)
  afterAll(async () => await opened.disposeAsync())
  function stage() {
    if (running === null) throw new Error("nothing runs before the tests do")
    return running
  }
  return {
    get service() {
      return stage().service
    },
    get user() {
      return stage().user
    },
    openPage: async (options) => {
      const asUser: PageOptions = { ...options, user: stage().user }
      return await stage().openVisit(asUser)
    },
    openVisit: async (options) => await stage().openVisit(options),
    use: (resource) => opened.use(resource),
  }
}
