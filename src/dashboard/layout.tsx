import { raw } from "hono/html"
import type { Child } from "hono/jsx"
import type { ContentfulStatusCode } from "hono/utils/http-status"
import type { Context as HonoContext } from "hono"
import { ActionForm } from "./components/buttons.tsx"
import type { SignedInUser } from "../accounts/sign-in/signed-in-user.ts"
import type { AppEnv } from "../api/context.ts"
import { assetPath } from "./assets.ts"
import type { AssetName } from "./assets.ts"
import { Notice } from "./components/notice.tsx"
import type { PageContext } from "./context.ts"
import { takeFlashMessage } from "./flash.ts"

/** Title, navigation entry and other properties of a dashboard page. */
export type PageProps = {
  title: string
  /** Entry of the navigation that is marked as current; null for none. */
  section: Section | null
  /** Sentence below the title that explains the purpose of the page. */
  lead?: Child
  /** Buttons beside the title; at most one has the tone `primary`. */
  actions?: Child
  /** Scripts that the page loads, by their names in assets.ts. */
  scripts?: readonly AssetName[]
  status?: ContentfulStatusCode
}

/** Responds with a dashboard page for the signed-in user of the context. */
export function showPage(
  c: PageContext,
  facts: PageProps,
  content: Child,
): Response | Promise<Response> {
  return showPageForUser(c, c.get("signedIn"), facts, content)
}

/**
 * Responds with a dashboard page for a given user, on routes whose context has no signed-in user.
 */
export function showPageForUser<Context extends AppEnv>(
  c: HonoContext<Context>,
  { user, account }: SignedInUser,
  facts: PageProps,
  content: Child,
): Response | Promise<Response> {
  const { title, section, lead, actions, scripts = [], status = 200 } = facts
  const flash = takeFlashMessage(c)
  const page = (
    <HtmlDocument title={title} scripts={scripts}>
      <a class="skip-link" href="#main">
        Skip to the content
      </a>
      <div class="frame">
        <TopBar />
        <Sidebar user={user} section={section} />
        <main id="main" tabindex={-1}>
          {account.isSuspended && (
            <Notice tone="bad">
              The account is suspended: its keys are refused and nothing can be changed. Ask the
              operator of this service.
            </Notice>
          )}
          {flash && <Notice tone={flash.tone}>{flash.message}</Notice>}
          <header class="page-header">
            <div>
              <h1>{title}</h1>
              {lead !== undefined && <p class="lead">{lead}</p>}
              <GuideLink section={section} />
            </div>
            {actions && <div class="actions">{actions}</div>}
          </header>
          {content}
        </main>
      </div>
    </HtmlDocument>
  )
  return c.html(page, status)
}

/** Link to the page of the documentation about a section. */
function GuideLink({ section }: { section: Section | null }) {
  const entry = [...SECTIONS, ...OPERATOR_SECTIONS].find(({ id }) => id === section)
  return (
    <p class="guide-link">
      <a href={entry?.guide ?? "/docs"}>{entry ? "How this works" : "Documentation"}</a>
    </p>
  )
}

/** Bar above the page on narrow screens, which opens the navigation. */
function TopBar() {
  return (
    <header class="top-bar">
      <BrandLink />
      <button type="button" class="button" popovertarget="navigation">
        Menu
      </button>
    </header>
  )
}

/** Navigation, which is a popover on narrow screens. A popover needs no script. */
function Sidebar({ user, section }: { user: SignedInUser["user"]; section: Section | null }) {
  return (
    <nav class="sidebar" id="navigation" popover="auto" aria-label="Main">
      <BrandLink />
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
        <ActionForm action="/sign-out" tone="quiet" text="Sign out" />
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

/** Name and icon of the service as a link to the overview. */
export function BrandLink() {
  return (
    <a class="brand" href="/">
      <img src={assetPath("favicon.svg")} width="24" height="24" alt="" />
      Lathe
    </a>
  )
}

/**
 * HTML document of every page, with or without a signed-in user. Loads page.client.js and the given
 * scripts; no script if `scripts` is null.
 */
export function HtmlDocument(props: {
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

/** Entry of the navigation. */
type SectionFacts = {
  id: string
  path: `/${string}`
  title: string
  icon: string
  /** Address of the page of the documentation about this section. */
  guide: `/docs/${string}`
}

/** Entries of the navigation in order. Icons are SVG paths in a square of 24 by 24. */
const SECTIONS = [
  {
    id: "overview",
    path: "/",
    title: "Overview",
    icon: "M4 11l8-7 8 7v9h-5v-6H9v6H4z",
    guide: "/docs/start",
  },
  {
    id: "playground",
    path: "/playground",
    title: "Playground",
    icon: "M5 7l5 5-5 5m7 0h7",
    guide: "/docs/guide/commands",
  },
  {
    id: "jobs",
    path: "/jobs",
    title: "Jobs",
    icon: "M4 6h16M4 12h10M4 18h6m7-4l5 3-5 3z",
    guide: "/docs/guide/jobs",
  },
  {
    id: "batches",
    path: "/batches",
    title: "Batches",
    icon: "M3 5h5v4H3zm13 0h5v4h-5zm0 10h5v4h-5zM8 7h8m-4 0v10h4",
    guide: "/docs/guide/chains",
  },
  {
    id: "files",
    path: "/files",
    title: "Files",
    icon: "M6 3h8l5 5v13H6zM14 3v5h5",
    guide: "/docs/guide/files",
  },
  {
    id: "webhooks",
    path: "/webhooks",
    title: "Webhooks",
    icon: "M9 8a3 3 0 116 0c0 2-2 3-3 5l-4 4m8 0H9M6 14a3 3 0 102 5m8-8a4 4 0 110 6",
    guide: "/docs/guide/webhooks",
  },
  {
    id: "keys",
    path: "/keys",
    title: "API keys",
    icon: "M8 19a4 4 0 110-8 4 4 0 010 8zm3-6l8-8m-4 4l3 3",
    guide: "/docs/guide/keys",
  },
  {
    id: "usage",
    path: "/usage",
    title: "Usage and plan",
    icon: "M5 20v-7m7 7V4m7 16v-10",
    guide: "/docs/guide/limits",
  },
  {
    id: "settings",
    path: "/settings",
    title: "Settings",
    icon: "M4 7h9m6 0h1M4 17h1m6 0h9M16 4v6M8 14v6",
    guide: "/docs/operate/accounts",
  },
] as const satisfies readonly SectionFacts[]

/** Entries of the navigation that only operators see. */
const OPERATOR_SECTIONS = [
  {
    id: "accounts",
    path: "/operate/accounts",
    title: "Accounts",
    icon: "M9 11a4 4 0 110-8 4 4 0 010 8zm-7 9a7 7 0 0114 0m0-17a4 4 0 010 8m2 2a7 7 0 014 7",
    guide: "/docs/operate/accounts",
  },
  {
    id: "plans",
    path: "/operate/plans",
    title: "Plans",
    icon: "M12 3l9 5-9 5-9-5zm-9 9l9 5 9-5",
    guide: "/docs/operate/accounts#plans",
  },
  {
    id: "health",
    path: "/operate/health",
    title: "Health",
    icon: "M3 12h4l3-8 4 16 3-8h4",
    guide: "/docs/operate/observe#health",
  },
  {
    id: "dead-letters",
    path: "/operate/dead-letters",
    title: "Dead letters",
    icon: "M3 6h18v13H3zm0 1l9 7 9-7",
    guide: "/docs/operate/accounts#the-dashboard",
  },
] as const satisfies readonly SectionFacts[]

type Section = (typeof SECTIONS | typeof OPERATOR_SECTIONS)[number]["id"]
