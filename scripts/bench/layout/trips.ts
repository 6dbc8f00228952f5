import { noteStart } from "./callbacks.ts"
import { countReturns, crossingsOf, filesOf } from "./crossings.ts"
import type { Crossing } from "./crossings.ts"
import { openReader } from "./reader.ts"
import { findRouters } from "./routes.ts"
import type { MeasuredTrip } from "./table.ts"
import type { Project } from "./value.ts"
import { walkTrip } from "./walk.ts"
import type { Ground } from "./walk.ts"

export type TripResult = {
  trip: MeasuredTrip
  files: string[]
  crossings: Crossing[]
  returns: number
  /** What the trip should have reached: where something is missed, its figures are too low. */
  missed: string[]
}

/** What is assumed of every trip, as the table has it. */
export type Assumptions = Omit<Ground, "assumed"> & {
  assumed: { [Name in keyof Ground["assumed"]]: string[] }
}

/** The way of each trip through the sources. */
export function measureTrips(
  project: Project,
  trips: readonly MeasuredTrip[],
  { doors, sealed, assumed }: Assumptions,
): TripResult[] {
  const kinds = trips.flatMap((trip) => trip.kinds)
  return trips.map((trip) => {
    const others = kinds.filter((kind) => !trip.kinds.includes(kind))
    const reader = openReader(project, trip.kinds)
    noteStart(reader)
    const ground = {
      doors,
      sealed,
      assumed: {
        unchosen: new Set([...assumed.unchosen, ...others]),
        absent: new Set(assumed.absent),
        present: new Set(assumed.present),
        failureTypes: new Set(assumed.failureTypes),
      },
    }
    const { steps, called } = walkTrip(reader, findRouters(reader), ground, trip)
    const crossings = crossingsOf(steps)
    const missed = trip.reaches.filter((name) => !called.has(name))
    return { trip, files: filesOf(steps), crossings, returns: countReturns(crossings), missed }
  })
}
