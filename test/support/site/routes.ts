import { bytesAnswer } from "./bytes.ts"
import { cookieAnswer } from "./cookies.ts"
import { liveAnswer } from "./live.ts"
import { mediaAnswer } from "./media-answer.ts"
import { page } from "./pages.ts"
import { redirectAnswer } from "./redirects.ts"
import { soundAnswer } from "./sound.ts"
import { towardAnswer } from "./toward/toward.ts"
import { pageAnswer } from "./visit.ts"
import type { Answer, Visit } from "./visit.ts"

type Route = (visit: Visit, rest: string) => Answer | null

const routes: Record<string, Route> = {
  media: ({ folder }, rest) => mediaAnswer(folder, rest),
  as: ({ folder, url }) => mediaAnswer(folder, url.searchParams.get("file") ?? ""),
  bytes: ({ url }) => bytesAnswer(sizeOf(url), Number(url.searchParams.get("seed") ?? 1)),
  page: (visit, rest) => page(visit, rest),
  sound: ({ url }) => soundAnswer(sizeOf(url), Number(url.searchParams.get("seed") ?? 1)),
  live: (visit, rest) => liveAnswer(visit, rest),
  toward: (visit, rest) => towardAnswer(visit, rest),
  redirect: (visit, rest) => redirectAnswer(visit, rest),
  status: (_, rest) => pageAnswer({ title: `Status ${rest}` }, { status: Number(rest) }),
  cookies: (visit, rest) => cookieAnswer(visit, rest),
  raw: ({ url }) => ({
    ...pageAnswer({}),
    raw: Buffer.from(url.searchParams.get("say") ?? "", "latin1"),
  }),
}

/** Returns the response of the test site to a request. */
export function answerTo(visit: Visit): Answer {
  const [, room = "", rest = ""] = /^\/([^/]*)\/?(.*)$/.exec(visit.url.pathname) ?? []
  const answer = routes[room]?.(visit, rest)
  return answer ?? pageAnswer({ title: "There is no such page" }, { status: 404 })
}

function sizeOf(url: URL): number {
  const size = url.searchParams.get("size") ?? "1000"
  return size === "endless" ? Infinity : Number(size)
}
