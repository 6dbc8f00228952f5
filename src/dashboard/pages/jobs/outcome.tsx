import type { JobRecord } from "../../../kinds/job-record.ts"
import { ErrorCode } from "../../components/error-code.tsx"
import { formatBytes, formatDuration } from "../../components/format.ts"
import { Live } from "../../components/live.tsx"
import { Notice } from "../../components/notice.tsx"
import { downloadPath, playableKind, Player } from "../../components/player.tsx"
import type { Playable } from "../../components/player.tsx"

type Output = JobRecord["outputs"][number]

/** What came of a job: its outputs with players, its warnings, or why it failed. */
export function JobOutcome({ job }: { job: JobRecord }) {
  return (
    <>
      <Live id={`failure-${job.id}`} tells>
        {job.error && <Failure error={job.error} lines={job.processing_errors ?? []} />}
        {job.warnings.map(({ code, message }) => (
          <Notice tone="busy">
            {message} <code>{code}</code>
          </Notice>
        ))}
      </Live>
      <Live id={`outputs-${job.id}`}>
        {job.outputs.length > 0 && <Outputs outputs={job.outputs} />}
      </Live>
    </>
  )
}

function Failure(props: { error: NonNullable<JobRecord["error"]>; lines: string[] }) {
  const { error, lines } = props
  // The first line is the sentence itself.
  const told = lines.slice(1)
  return (
    <Notice tone={error.code === "canceled" ? "idle" : "bad"}>
      <p>
        {error.message} <ErrorCode code={error.code} />
      </p>
      {told.length > 0 && (
        <pre tabindex={0} role="region" aria-label="What the tool said last">
          <code>{told.join("\n")}</code>
        </pre>
      )}
    </Notice>
  )
}

function Outputs({ outputs }: { outputs: Output[] }) {
  const shown = outputs.map((output) => ({ output, playable: playableOf(output) }))
  const tracks = shown
    .map(({ playable }) => playable)
    .filter((playable) => playableKind(playable) === "captions")
  return (
    <ul class="outputs">
      {shown.map(({ output, playable }) => (
        <li>
          <Player shown={playable} tracks={tracks} />
          <p class="output-name">
            <OutputName output={output} name={playable.name} />
            <span class="hint">{factsOf(output, isStill(playable))}</span>
          </p>
          <a class="button" href={downloadPath(output.url)} download>
            Download
          </a>
        </li>
      ))}
    </ul>
  )
}

/** The name of an output, which leads to the page of its File where it is one. */
function OutputName({ output, name }: { output: Output; name: string }) {
  const id = /^\/v1\/files\/([^/]+)\//.exec(downloadPath(output.url))?.[1]
  if (id === undefined) return <bdi>{name}</bdi>
  return (
    <a href={`/files/${id}`}>
      <bdi>{name}</bdi>
    </a>
  )
}

function isStill(shown: Playable): boolean {
  return playableKind(shown) === "picture" && !/\.gif$/i.test(shown.name)
}

function factsOf(output: Output, isPicture: boolean): string {
  const { codec, resolution, duration_seconds: duration, size_bytes: bytes, quality } = output
  const facts = [
    codec,
    resolution?.replace("x", " × "),
    // Of a picture it is the length of its one frame.
    duration === undefined || isPicture ? undefined : formatDuration(duration),
    formatBytes(bytes),
    quality && `${quality.metric} ${quality.score}`,
  ]
  return facts.filter((fact) => fact !== undefined).join(" · ")
}

/** An output by the name that its address ends with. */
function playableOf({ url }: Output): Playable {
  const encoded = downloadPath(url).split("/").at(-1) ?? ""
  return { name: decodeURIComponent(encoded), url }
}
