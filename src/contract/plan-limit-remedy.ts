/** Remedy that ends each message about a limit of the account's plan. */
export const PLAN_LIMIT_REMEDY =
  "ask the operator of this service for another plan; GET /v1/account shows limits and use"
