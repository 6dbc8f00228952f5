/** Job in a graph: the name of the job, and the names of the jobs whose outputs the job reads. */
export type GraphJob = { name: string; needs: readonly string[] }

/** Line from a job to another job that reads its outputs. `path` is SVG path data. */
export type GraphEdge = { from: string; to: string; path: string }

/**
 * Layout of a graph: the jobs by layer, and the lines between jobs. A layer is a column of the
 * drawing. Each job is in the layer after the last of the jobs whose outputs it reads. The jobs of
 * a layer share the height equally.
 */
export type GraphLayout<Job> = { layers: Job[][]; edges: GraphEdge[] }

/**
 * Width of a layer, and the left and right side of a job within its layer, in units of the drawing.
 * The style `.graph-layer` has the same proportions.
 */
const LAYER_WIDTH = 17
const JOB_LEFT = 1.5
const JOB_RIGHT = LAYER_WIDTH - JOB_LEFT
/** Height of the drawing in units. */
const HEIGHT = 100

/** Returns the SVG `viewBox` of a drawing with `layerCount` layers. */
export function graphViewBox(layerCount: number): string {
  return `0 0 ${LAYER_WIDTH * layerCount} ${HEIGHT}`
}

/**
 * Computes the layers of jobs and the lines between jobs. In the list `jobs`, each job comes after
 * the jobs whose outputs it reads. No line is drawn from a job that is not in the list.
 */
export function layOutGraph<Job extends GraphJob>(jobs: readonly Job[]): GraphLayout<Job> {
  const layers = orderLayers(assignLayers(jobs))
  const places = new Map(
    layers.flatMap((layer, depth) => {
      return layer.map(
        ({ name }, at) => [name, { depth, y: findMiddle(at, layer.length) }] as const,
      )
    }),
  )
  const edges = jobs.flatMap(({ name: to, needs }) => {
    return needs.flatMap((from) => {
      const [start, target] = [places.get(from), places.get(to)]
      return start && target ? [{ from, to, path: drawEdge(start, target, layers) }] : []
    })
  })
  return { layers, edges }
}

function assignLayers<Job extends GraphJob>(jobs: readonly Job[]): Job[][] {
  const depths = new Map<string, number>()
  for (const { name, needs } of jobs) {
    depths.set(name, Math.max(0, ...needs.map((needed) => (depths.get(needed) ?? -1) + 1)))
  }
  return [...Map.groupBy(jobs, ({ name }) => depths.get(name) ?? 0)]
    .toSorted(([one], [other]) => one - other)
    .map(([, layer]) => layer)
}

/**
 * Sorts the jobs of each layer by the mean vertical position of the jobs whose outputs they read,
 * so that fewer lines cross.
 */
function orderLayers<Job extends GraphJob>(layers: readonly Job[][]): Job[][] {
  const heights = new Map<string, number>()
  return layers.map((layer) => {
    const ordered = layer
      .map((job) => ({ job, height: computeMeanHeight(job, heights) }))
      .toSorted((one, other) => one.height - other.height)
      .map(({ job }) => job)
    for (const [at, { name }] of ordered.entries()) heights.set(name, findMiddle(at, layer.length))
    return ordered
  })
}

function computeMeanHeight({ needs }: GraphJob, heights: ReadonlyMap<string, number>): number {
  const known = needs.flatMap((name) => heights.get(name) ?? [])
  return known.reduce((sum, height) => sum + height, 0) / Math.max(1, known.length)
}

/** Returns the y coordinate of the middle of the job with the index `at` in its layer. */
function findMiddle(at: number, jobCount: number): number {
  return ((at + 0.5) / jobCount) * HEIGHT
}

type NodePosition = { depth: number; y: number }

/**
 * Returns the SVG path from the right side of one job to the left side of another job. Each layer
 * in between is crossed at the nearest border between two jobs, so that the line covers no job.
 */
function drawEdge(
  start: NodePosition,
  target: NodePosition,
  layers: readonly (readonly unknown[])[],
): string {
  let [x, y] = [start.depth * LAYER_WIDTH + JOB_RIGHT, start.y]
  let path = `M${x} ${round(y)}`
  for (let depth = start.depth + 1; depth < target.depth; depth += 1) {
    const jobCount = layers[depth]?.length ?? 1
    const straight = y + (target.y - y) / (target.depth - depth + 1)
    const border = (Math.round((straight / HEIGHT) * jobCount) / jobCount) * HEIGHT
    const left = depth * LAYER_WIDTH
    path += `${drawBend(x, y, left + JOB_LEFT, border)}H${left + JOB_RIGHT}`
    x = left + JOB_RIGHT
    y = border
  }
  return path + drawBend(x, y, target.depth * LAYER_WIDTH + JOB_LEFT, target.y)
}

/** Returns the SVG path data of a curve that begins and ends horizontally. */
function drawBend(x: number, y: number, toX: number, toY: number): string {
  const between = (x + toX) / 2
  return `C${between} ${round(y)} ${between} ${round(toY)} ${toX} ${round(toY)}`
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}
