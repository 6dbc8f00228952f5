import { join } from "node:path"
import type { Figure } from "../figure.ts"
import { roomOf, readSources } from "./source.ts"
import { findCycles } from "./cycles.ts"
import { findKindPlaces } from "./kind-places.ts"
import { openProject } from "./project.ts"
import { readSizes } from "./sizes.ts"
import {
  GROUND,
  KIND,
  LINES_MAX,
  LONG_LINES,
  RUNNING,
  SHORT_FOLDERS,
  SIZED,
  TRIPS,
} from "./table.ts"
import { measureTrips } from "./trips.ts"
import type { TripResult } from "./trips.ts"

const ROOT = join(import.meta.dirname, "../../..")

/**
 * The shape of the code, read from its source; nothing of it is run. The way of a request is a walk
 * from its route or operation, in the order of the source and where all goes well:
 * - a call leads to every function of the project that it may mean; each is entered once a trip;
 * - calls of Durable Objects, messages to queues and the HTTP between Worker and runner lead to
 *   what answers them; callbacks are entered where they are given;
 * - throws, `catch`, timers, log writers, what is declared to return a failure, and branches that
 *   the table says are not taken, are left out;
 * - a file counts where a function of it is entered; in a sealed folder, from outside of it;
 * - a crossing is a pair of files of two rooms (folders) of which one calls the other, once;
 * - an immediate return is a crossing whose next one leads out of the same room again.
 * With LAYOUT_LIST=1 the files and the crossings are printed too.
 */
export function measureLayout(root: string): { figures: Figure[]; list: string } {
  const sources = readSources(root, SIZED)
  const running = new Map([...sources].filter(([path]) => isBelow(RUNNING, path)))
  const ways = measureTrips(openProject(root, running), TRIPS, GROUND)
  const cycles = findCycles(sources)
  const sizes = readSizes(root, SIZED)
  const long = sizes.filter(({ lines }) => lines > LONG_LINES)
  const tooLong = long.filter(({ path }) => isBelow(SHORT_FOLDERS, path))
  const places = findKindPlaces(running, KIND)
  const [largest] = sizes
  const figures = [
    ...ways.flatMap(figuresOfWay),
    count("files in cycles of imports, types included", cycles.flat().length, 0),
    count("lines of the largest file", largest?.lines ?? 0, LINES_MAX, largest?.path ?? ""),
    count(
      `files over ${LONG_LINES} lines in ${SHORT_FOLDERS.join(" and ")}`,
      tooLong.length,
      0,
      `${long.length} in all`,
    ),
    count(`places that a kind like "${KIND.name}" touches`, places.length, KIND.placesMax),
  ]
  const list = [
    ...ways.map(listWay),
    listOf(
      "Files in cycles of imports",
      cycles.map((cycle) => cycle.join(", ")),
    ),
    listOf(
      `Files over ${LONG_LINES} lines`,
      long.map(({ path, lines }) => `${path} ${lines}`),
    ),
    listOf(
      `Places that "${KIND.name}" touches`,
      places.map(({ path, line, text }) => `${path}:${line} ${text}`),
    ),
  ].join("\n")
  return { figures, list }
}

export async function benchLayout(): Promise<Figure[]> {
  const { figures, list } = measureLayout(ROOT)
  if (process.env["LAYOUT_LIST"] === "1") console.log(list)
  return figures
}

function isBelow(folders: readonly string[], path: string): boolean {
  return folders.some((folder) => path.startsWith(`${folder}/`))
}

function figuresOfWay({ trip, files, crossings, returns, missed }: TripResult): Figure[] {
  const { name, goals } = trip
  const lost = missed.length > 0 ? `did not reach ${missed.join(", ")}` : ""
  const figures = [
    count(`${name}: files`, files.length, goals.files, lost),
    count(
      `${name}: crossings of rooms`,
      crossings.length,
      goals.crossings,
      lost || `${returns} immediate returns`,
    ),
  ]
  return figures.map((figure) => ({ ...figure, isMet: lost === "" && figure.isMet }))
}

function count(name: string, measured: number, max: number, reference = ""): Figure {
  return {
    name: `layout: ${name}`,
    measured: String(measured),
    reference,
    comparison: measured > max ? `+${measured - max}` : "",
    goal: max === 0 ? "0" : `<= ${max}`,
    isMet: measured <= max,
  }
}

function listWay({ trip, files, crossings }: TripResult): string {
  return [
    listOf(`${trip.name}: files`, files),
    listOf(
      `${trip.name}: crossings`,
      crossings.map(
        ({ from, to, name }) => `${roomOf(from)} -> ${roomOf(to)}: ${from} -> ${to} ${name}`,
      ),
    ),
  ].join("\n")
}

function listOf(title: string, lines: readonly string[]): string {
  return [`${title} (${lines.length})`, ...lines.map((line) => `  ${line}`), ""].join("\n")
}
