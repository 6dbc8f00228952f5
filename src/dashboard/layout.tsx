import { raw } from "hono/html"
import type { Child } from "hono/jsx"
import type { ContentfulStatusCode } from "hono/utils/http-status"
import type { Context as HonoContext } from "hono"
import type { SignedIn } from "../auth/session.ts"
import type { App } from "../http/request.ts"
import { assetPath } from "./assets.ts"
import type { AssetName } from "./assets.ts"
import { Notice } from "./components/notice.tsx"
import type { PageContext } from "./context.ts"
import { takeFlash } from "./flash.ts"
import { OPERATOR_SECTIONS, SECTIONS } from "./sections.ts"
import type { Section } from "./sections.ts"

export type PageFacts = {
  title: string
  /** The entry of the navigation that the page belongs to; null for one that belongs to none. */
  section: Section | null
  /** What the page is for, in a sentence below its title. */
  lead?: Child
  /** What can be done here; at most one of them is primary. */
  actions?: Child
  /** Scripts of this page, by their names in assets.ts. */
  scripts?: readonly AssetName[]
  status?: ContentfulStatusCode
}

/** A page of the dashboard for the user who is signed in. */
export function showPage(
  c: PageContext,
  facts: PageFacts,
  content: Child,
): Response | Promise<Response> {
  return showPageFor(c, c.get("signedIn"), facts, content)
}

/** A page of the dashboard where the route does not say who is signed in. */
export function showPageFor<Context extends App>(
  c: HonoContext<Context>,
  { user, account }: SignedIn,
  facts: PageFacts,
  content: Child,
): Response | Promise<Response> {
  const { title, section, lead, actions, scripts = [], status = 200 } = facts
  const flash = takeFlash(c)
  const page = (
    <Document title={title} scripts={scripts}>
      <a class="skip-link" href="#main">
        Skip to the content
      </a>
      <div class="frame">
        <TopBar />
        <Sidebar user={user} section={section} />
        <main id="main" tabindex={-1}>
          {account.isSuspended && (
            <Notice tone="bad">
              This account is suspended: its keys are refused and nothing can be changed. Ask the
              operator of this service.
            </Notice>
          )}
          {flash && <Notice tone={flash.tone}>{flash.message}</Notice>}
          <header class="page-header">
            <div>
              <h1>{title}</h1>
              {lead !== undefined && <p class="lead">{lead}</p>}
            </div>
            {actions && <div class="actions">{actions}</div>}
          </header>
          {content}
        </main>
      </div>
    </Document>
  )
  return c.html(page, status)
}

/** What stands above the page where there is no room for the navigation beside it. */
function TopBar() {
  return (
    <header class="top-bar">
      <Brand />
      <button type="button" class="button" popovertarget="navigation">
        Menu
      </button>
    </header>
  )
}

/** The navigation; on a phone it is a popover, which needs no script. */
function Sidebar({ user, section }: { user: SignedIn["user"]; section: Section | null }) {
  return (
    <nav class="sidebar" id="navigation" popover="auto" aria-label="Main">
      <Brand />
      <div>
        <NavigationList sections={SECTIONS} current={section} />
        {user.isOperator && (
          <>
            <p class="navigation-title" id="operator-navigation">
              Operator
            </p>
            <NavigationList
              sections={OPERATOR_SECTIONS}
              current={section}
              labelledBy="operator-navigation"
            />
          </>
        )}
      </div>
      <div class="user-menu">
        <a href="/docs">Documentation</a>
        <p class="user-email" title={user.email}>
          {user.email}
        </p>
        <form method="post" action="/sign-out">
          <button type="submit" class="button quiet">
            Sign out
          </button>
        </form>
      </div>
    </nav>
  )
}

function NavigationList(props: {
  sections: typeof SECTIONS | typeof OPERATOR_SECTIONS
  current: Section | null
  labelledBy?: string
}) {
  return (
    <ul class="navigation" aria-labelledby={props.labelledBy}>
      {props.sections.map(({ id, path, title, icon }) => (
        <li>
          <a href={path} aria-current={id === props.current ? "page" : undefined}>
            <svg viewBox="0 0 24 24" width="18" height="18" aria-hidden="true">
              <path d={icon} />
            </svg>
            {title}
          </a>
        </li>
      ))}
    </ul>
  )
}

/** The service's name, which leads to the overview. */
export function Brand() {
  return (
    <a class="brand" href="/">
      <img src={assetPath("favicon.svg")} width="24" height="24" alt="" />
      Lathe
    </a>
  )
}

/**
 * The frame of every page, those for nobody in particular included. Scripts of the page stand beside
 * the one that all have; with null there is none.
 */
export function Document(props: {
  title: string
  scripts?: readonly AssetName[] | null
  children: Child
}) {
  const { scripts: own = [] } = props
  const scripts: AssetName[] = own === null ? [] : ["page.client.js", ...own]
  return (
    <>
      {raw("<!doctype html>")}
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <meta name="color-scheme" content="light dark" />
          <title>{props.title} · Lathe</title>
          <link rel="icon" href={assetPath("favicon.svg")} type="image/svg+xml" />
          <link rel="stylesheet" href={assetPath("dashboard.css")} />
          {scripts.map((name) => (
            <script type="module" src={assetPath(name)}></script>
          ))}
        </head>
        <body>
          {props.children}
          <p class="visually-hidden" id="announcements" role="status"></p>
        </body>
      </html>
    </>
  )
}
