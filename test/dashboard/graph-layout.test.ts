import { expect, it } from "vitest"
import { graphViewBox, layOutGraph } from "../../src/dashboard/pages/batches/graph-layout.ts"

it("a job is one layer behind the last job that it needs", () => {
  const { layers, edges } = layOutGraph([
    job("film"),
    job("level", "film"),
    job("words", "level"),
    job("burned", "level", "words"),
    job("poster", "film"),
  ])
  expect(namesOf(layers)).toEqual([["film"], ["level", "poster"], ["words"], ["burned"]])
  expect(edges.map(({ from, to }) => `${from}>${to}`)).toEqual([
    "film>level",
    "level>words",
    "level>burned",
    "words>burned",
    "film>poster",
  ])
})

it("a line joins the sides of two jobs, at the middle of their equal shares of the height", () => {
  const { edges } = layOutGraph([job("a"), job("b"), job("c", "b")])
  expect(edges.map(({ path }) => path)).toEqual(["M15.5 75C17 75 17 50 18.5 50"])
  expect(graphViewBox(2)).toBe("0 0 34 100")
})

it("a line passes the layers in between along a border of their jobs", () => {
  const { edges } = layOutGraph([job("a"), job("b", "a"), job("c", "a"), job("d", "a", "b")])
  const { path } = edges.find(({ from, to }) => from === "a" && to === "d") ?? {}
  expect(path).toBe("M15.5 50C17 50 17 50 18.5 50H32.5C34 50 34 50 35.5 50")
})

it("a layer has the order of the jobs that its jobs need, so that fewer lines cross", () => {
  const jobs = [job("a"), job("b"), job("from-b", "b"), job("from-both", "a", "b"), job("x", "a")]
  expect(namesOf(layOutGraph(jobs).layers)[1]).toEqual(["x", "from-both", "from-b"])
})

it("a needed job outside of the graph has no line, and no layer", () => {
  const { layers, edges } = layOutGraph([job("a", "0190-of-another-batch")])
  expect(namesOf(layers)).toEqual([["a"]])
  expect(edges).toEqual([])
})

function job(name: string, ...needs: string[]) {
  return { name, needs }
}

function namesOf(layers: { name: string }[][]): string[][] {
  return layers.map((layer) => layer.map(({ name }) => name))
}
