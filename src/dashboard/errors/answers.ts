import type { ProblemCode } from "../../http/problem.ts"
import type { Explained } from "./explained.ts"

type Answer = Explained & { retryAfterSeconds?: number }

const ASK_LATER = "Send the request again after the seconds of `Retry-After`."
const OF_THE_SITE =
  "The URL is asked again by itself first. Try it later, or check it in a browser; GET and POST /v1/fetch/metadata answer this."

/** Every code of an answer; its status and title are those of PROBLEMS. */
export const ANSWERS: Record<ProblemCode, Answer> = {
  invalid_request: {
    means:
      "The request is malformed, or a field of a request in the Job form is not as it has to be: there all that is wrong is this 400, and each field stands in the message.",
    remedy: "Change what the message names. Sent again as it is, it fails again.",
    message: "outputs: expected at least one output",
  },
  invalid_token: {
    means: "The request carries no key, a text that is no key of this service, or one that ended.",
    remedy:
      "Send a key in the header `X-API-KEY`, as `Authorization: Bearer <key>` or as the query parameter `key`. Keys are made in the dashboard.",
    message:
      "The request carries no API key: send one in the header `X-API-KEY`, as `Authorization: Bearer <key>`, or as the query parameter `key`.",
  },
  scope_missing: {
    means: "The key counts, and its scopes do not include what the operation needs.",
    remedy: "Use or make a key that has the scope that the message names.",
    message: "This needs a key with the scope write; this one has read.",
  },
  account_suspended: {
    means: "The operator has suspended the account: none of its keys may do anything.",
    remedy: "Ask the operator of this service.",
    message: "The account is suspended; ask the operator of this service.",
  },
  storage_limit_exceeded: {
    means: "What the account stores, with what this would add, is more than its plan allows.",
    remedy: "Delete files or fetches, or ask the operator for a larger plan.",
    message:
      "The account stores 9990000000 bytes, this would add 52428800, and its plan allows 10000000000: delete files or fetches, or ask the operator of this service for another plan; GET /v1/account shows limits and use.",
  },
  forbidden: {
    means: "The request came from where this is not allowed, such as a page of another site.",
    remedy: "Use the dashboard itself, or send a key.",
    message: "A page of another site sent this; only this site's own may.",
  },
  invalid_signature: {
    means: "The address of a download was changed, or another service made it.",
    remedy: "Take the link as the `download_url` redirects to it, whole and unchanged.",
    message: "The link was changed or is not of this service.",
  },
  not_found: {
    means:
      "There is no such path, or nothing of this account that has the id. What belongs to other accounts, and what was deleted, is not there either.",
    remedy: "Check the path and the id, and that the key is one of the account that made it.",
    message: "There is no such file.",
  },
  no_log: {
    means: "Nothing is kept of what the tools of the job said: it is not over, or of another kind.",
    remedy:
      "Ask again once the job is over. POST /v1/commands and POST /v1/ffmpeg keep what ffmpeg says, and the record then has `log`.",
    message: "The job is not over: what ffmpeg says of it is kept at its end.",
  },
  method_not_allowed: {
    means: "The path is there, and does not take the method.",
    remedy: "Use one of the methods that the message and the header `Allow` name.",
    message: "PUT is not for this path; it takes GET, HEAD, POST.",
  },
  request_timeout: {
    means: "The request stopped arriving before it was whole.",
    remedy: "Send it again, over a connection that does not pause.",
    message:
      "The body came to a stop: send at least 1024 bytes a second, and pause for less than 30 seconds.",
  },
  idempotency_conflict: {
    means:
      "An earlier request with the same `Idempotency-Key` had another body or path, so that this is no repetition of it.",
    remedy: "Use a new key for a new request, and the same one only to repeat a request.",
    message: "This Idempotency-Key was used for another request; use a new one.",
  },
  key_limit_exceeded: {
    means: "The account has as many keys that count as an account may have.",
    remedy: "Revoke keys that are not used any more.",
    message:
      "An account may have 100 keys that are neither revoked nor expired; revoke one that you need no more.",
  },
  key_not_rotatable: {
    means: "A key that is revoked, has expired or was rotated already cannot be rotated.",
    remedy: "Create a new key, or rotate the one that took its place.",
    message: "The key is revoked: create a new one.",
  },
  already_final: {
    means: "The job has ended already, so that nothing of it can be canceled.",
    remedy: "Read its record. To remove it with what it stored, delete it.",
    message: "The job is over: there is nothing to cancel.",
  },
  not_final: {
    means: "What was asked for is possible only when the job is over.",
    remedy: "Wait for its webhook or its events, or ask for its record until it is over.",
    message: "The job still runs; cancel it first, or wait for its end.",
  },
  not_retryable: {
    means: "The job needs something again that was not kept, such as cookies.",
    remedy: "Send the whole request again.",
    message: "The fetch had cookies, which were not kept: send it again with POST /fetch.",
  },
  plan_in_use: {
    means: "Accounts have the plan that is to be removed, or invitations name it.",
    remedy: "Give them another plan first.",
    message: "Accounts have the plan, or invitations name it; give them another one first.",
  },
  link_expired: {
    means: "A link counts for some minutes; what was fetched is kept for some days.",
    remedy: "Ask the `download_url` for a new link. Fetch again what is kept no longer.",
    message: "The link has expired; get a new one from the download_url.",
  },
  precondition_failed: {
    means: "`If-Match` or `If-Unmodified-Since` names another version of the file.",
    remedy: "Begin the download anew, without what was kept of the other version.",
    message: "The file is not the one that the condition names.",
  },
  payload_too_large: {
    means:
      "The body has more bytes than it may have: the plan bounds a file (`file_bytes`), and the place where the service runs may bound the body of an upload (`upload_body_bytes` of `GET /v1/account`).",
    remedy:
      "Make the file smaller; bring it in by its URL (`file_url`, `https://` or `s3://`), which only the plan bounds; or ask the operator for a larger plan.",
    message: "A JSON body may have 1048576 bytes.",
  },
  unsupported_media_type: {
    means: "`Content-Type` names a type that the path does not take, or is missing.",
    remedy: "Send the type that the message names.",
    message: "Send the body as application/json.",
  },
  range_not_satisfiable: {
    means: "The range that was asked for begins behind the end of the file.",
    remedy: "Ask for a range within the size that the message and `Content-Range` say.",
    message: "The file has 1048576 bytes.",
  },
  expectation_failed: {
    means: "The header `Expect` asks for something other than 100-continue.",
    remedy: "Leave the header out.",
    message: "Expect is 100-continue, or is left out.",
  },
  misdirected_request: {
    means: "The `Host` of the request is none that this service answers for.",
    remedy: "Use the service's own address. Its operator sets it by PUBLIC_ORIGIN.",
    message:
      "media.example is not a host of this service; its operator names one by PUBLIC_ORIGIN.",
  },
  unprocessable: {
    means:
      "The request can be read, and fields of it cannot be used. `details` names each of them, with what was expected and a code.",
    remedy:
      "Change every field that `details` names; each code there has a page. POST /v1/commands/validate tells the same of a command without making a job.",
    message: "expected svc_id://<uuid>, a File's download_url, a public URL or s3://<bucket>/<key>",
  },
  too_complex: {
    means:
      "The body holds more values, its commands more words, filters, options, labels and quotes, or a graph more filters or inputs and outputs, than the service judges: judging it would keep other callers waiting. The status is 422 in the Job form too.",
    remedy: "`details` names the field and its limit. Split the work into several requests.",
    message:
      "a graph of 1200 filters is too large; expected at most 1000, so split the work into several commands",
  },
  rate_limit_exceeded: {
    means:
      "A key, or a user of the dashboard, made more requests in a minute than its plan allows.",
    remedy: `${ASK_LATER} Webhooks, events and \`Prefer: wait=60\` tell of a job's end with fewer requests.`,
    message:
      "The plan trial lets a key make 600 requests a minute; ask again in 42 seconds, or have the operator of this service give the account a larger plan.",
    retryAfterSeconds: 42,
  },
  job_limit_exceeded: {
    means: "The account has as many jobs waiting as its plan allows.",
    remedy: `${ASK_LATER} Some of the jobs begin meanwhile; those that are not needed can be canceled.`,
    message:
      "The account has 1000 jobs that wait, and its plan allows 1000: send it again when some of them have begun, cancel some, or ask the operator of this service for another plan; GET /v1/account shows limits and use.",
    retryAfterSeconds: 10,
  },
  fetch_limit_exceeded: {
    means:
      "The account brought in as many media from URLs today as its plan allows on a day (UTC).",
    remedy: `${ASK_LATER} Uploads do not count.`,
    message:
      "The account has brought in 100 media from URLs today, this would bring in 1 more, and its plan allows 100 on a day (UTC): send it again in 3600 seconds, or ask the operator of this service for another plan; GET /v1/account shows limits and use.",
    retryAfterSeconds: 3600,
  },
  too_many_uploads: {
    means: "The key has as many uploads open at once as it may have.",
    remedy: "Send it again when one of them is done.",
    message: "This key may have 16 uploads open at a time; send it again when one is done.",
    retryAfterSeconds: 5,
  },
  headers_too_large: {
    means: "The path and the headers of the request together are too many bytes, or too many.",
    remedy: "Send fewer headers and cookies. A long URL belongs into the body of a POST.",
    message: "A head may have 16384 bytes and 100 headers.",
  },
  internal: {
    means: "Something failed that should not; the request is not to blame.",
    remedy:
      "Send it again, a create with an `Idempotency-Key`. If it goes on, tell the operator the request's id.",
    message:
      "Something went wrong inside; name request 0197a6d2-6f7c-7c33-9b1e-3f2a8c5d4e10 when you report it.",
  },
  connection_failed: {
    means: "The site of the URL could not be reached, or closed the connection.",
    remedy: OF_THE_SITE,
    message: "The site cannot be reached: example.com refused the connection.",
  },
  incomplete: {
    means: "The site closed the connection before its answer was whole.",
    remedy: OF_THE_SITE,
    message: "The site did not send all of its answer: try again.",
  },
  rate_limited_by_site: {
    means: "The site had too many requests from this service, or takes it for a robot.",
    remedy: "Try it later, or give POST /v1/fetch the cookies of an account there.",
    message:
      "The site takes this service for a robot, or had too many requests of it: try again later.",
  },
  server_error: {
    means: "The site answered with an error of its own.",
    remedy: OF_THE_SITE,
    message: "The site answered 503: try again later, or check the URL.",
  },
  site_changed: {
    means: "yt-dlp does not understand the site's pages any more.",
    remedy: "Tell the operator, who can install a newer yt-dlp.",
    message: "The site is not as this service knows it: tell the operator of the service.",
  },
  too_many_redirects: {
    means: "The site redirects in a circle, or more often than is followed.",
    remedy: "Open the URL in a browser, and give the one that it ends at.",
    message:
      "The site redirects without end: open the page in a browser, and give the URL that it ends at.",
  },
  tool_missing: {
    means: "A program that the work needs is not installed on any runner, or cannot run.",
    remedy: "Ask the operator; GET /v1/health names what is missing. All else works.",
    message: "This service cannot transcribe speech: no model is installed; all else works.",
  },
  overloaded: {
    means: "The service is starting, or had no runner free in time.",
    remedy: "Send it again in a moment.",
    message: "No runner was free in time; try it again in a moment.",
  },
  unavailable: {
    means: "A part of the service, such as the one that checks keys, does not answer.",
    remedy: ASK_LATER,
    message: "Your key cannot be checked at the moment; ask again soon.",
    retryAfterSeconds: 5,
  },
  too_slow: {
    means: "The site did not say within 30 seconds what the video is.",
    remedy: "Try it again, or fetch it with POST /v1/fetch, which has more time.",
    message:
      "The site did not say in time what the video is; try it again, or fetch it with POST /fetch.",
  },
  storage_full: {
    means: "The disk of the service, of which running work needs the rest, has no room.",
    remedy:
      "Send it again when files were deleted. Only the operator can make room for all accounts.",
    message:
      "The disk of the service is full; send it again when files were deleted or the operator made room.",
  },
}
