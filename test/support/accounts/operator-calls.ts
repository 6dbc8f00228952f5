import { fetchOperatorRoute } from "../caller.ts"

export async function putPlan(name: string, limits: object): Promise<Response> {
  return await fetchOperatorRoute(`/plans/${name}`, { method: "PUT", body: JSON.stringify(limits) })
}

/** Returns the field and the message of each fault in an error response. */
export async function readFaultDetails(answer: Response) {
  const { details } = await answer.json<{ details: { field: string; message: string }[] }>()
  return details.map(({ field, message }) => ({ field, message }))
}
