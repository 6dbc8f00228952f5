import { askOperator } from "../caller.ts"

export async function putPlan(name: string, limits: object): Promise<Response> {
  return await askOperator(`/plans/${name}`, { method: "PUT", body: JSON.stringify(limits) })
}

/** The fields at fault of a refusal, and what was expected of them. */
export async function faultsOf(answer: Response) {
  const { details } = await answer.json<{ details: { field: string; message: string }[] }>()
  return details.map(({ field, message }) => ({ field, message }))
}
