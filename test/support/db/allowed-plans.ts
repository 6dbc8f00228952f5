/**
 * Query plan that may scan a table or sort. `plan` matches the text `<step of the plan>:
 * <statement>`, and `because` is the reason for the exception.
 */
type AllowedPlan = { plan: RegExp; because: string }

/** Allowed plans that read a bounded number of rows, however many jobs exist. */
const BOUNDED: AllowedPlan[] = [
  {
    plan: /^SCAN keys USING INDEX \w+: .* order by "keys"\."id" desc limit \?$/,
    because: "a page of the operator's list is read in order",
  },
  {
    plan: /^SCAN \w+: (?:select \* from "\w+"|select .* from "accounts" limit \?|update "sessions" set|select "users"\."email", "sessions"|insert into \w+ \(|select account_id, slots_share_max|select .* from "accounts" where "accounts"\."name" like \?$)/,
    because: "a test asks for it, and not the service",
  },
  { plan: /^SCAN plans /, because: "the operator makes plans by hand" },
  {
    plan: /^(?:SCAN|USE TEMP B-TREE).* "?invitations"? ?/,
    because: "the operator invites by hand, and an invitation expires",
  },
  {
    plan: /^SCAN accounts .* (?:limit \?|group by "accounts"\."plan")$/,
    because: "an operator looks for accounts, or counts those of plans; a page is read in order",
  },
  { plan: /^SCAN account_storage: select coalesce\(sum/, because: "a row an account, for metrics" },
  {
    plan: /"dead_letters"/,
    because: "the sweep keeps the newest thousand",
  },
  {
    plan: /^(?:SCAN verifications|USE TEMP B-TREE FOR ORDER BY).* "verifications"/,
    because: "rows of the last hour, as many as limits of guesses let in; better-auth asks so",
  },
  {
    plan: /^SCAN task_secrets USING COVERING INDEX/,
    because: "open jobs with secrets of their callers alone have rows",
  },
  {
    plan: /^SCAN (?:oldest|counted): /,
    because: "reads what a query within it found, up to its limit",
  },
  {
    plan: /^USE TEMP B-TREE FOR LAST TERM OF ORDER BY: .* from "usage_days"/,
    because: "sorts what the keys of one account did on one day",
  },
  {
    plan: /^USE TEMP B-TREE FOR ORDER BY: .* from "delivery_tries" where .* in \(select/,
    because: "sorts the tries of one page of deliveries",
  },
  {
    plan: /^USE TEMP B-TREE FOR ORDER BY: .* from "deliveries" where \("deliveries"\."state" = \? and \(*"deliveries"\."job_id" = \?/,
    because: "sorts the deliveries of one job, one for each endpoint of its account at most",
  },
  {
    plan: /^USE TEMP B-TREE FOR ORDER BY: .* from "uploads" where \("uploads"\."object_key" = \?/,
    because: "sorts the uploads of one object",
  },
  {
    plan: /^SCAN \w+(?: USING COVERING INDEX \w+)?: select 1 from \w+ limit 1$/,
    because: "reads one row",
  },
  {
    plan: /^SCAN queued_tasks USING INDEX queued_tasks_by_age: .* order by waits_since limit 1$/,
    because: "reads one row of an index that has no other rows",
  },
  {
    plan: /^SCAN \w+: select (?:slot, (?:account_id|failed_at)|account_id as accountId, wanted)\b.* from (?:slots|slots_to_end|waiting_accounts)\b/,
    because:
      "an object of a pool reads all of its slots, and who waits for one, once as it comes up",
  },
  {
    plan: /^SCAN (?:found|\(subquery-\d+\)): (?:with recursive|select )/,
    because: "ids that the statement found by an index itself, and limits",
  },
  {
    plan: /^SCAN slot_problems/,
    because: "slots of one pool that have a problem",
  },
]

/**
 * Allowed plans of statements that count for the operator's page and /metrics. They read all open
 * jobs, tasks or webhook deliveries.
 */
const OF_WHAT_IS_OPEN: AllowedPlan[] = [
  {
    plan: /^(?:SCAN (?:jobs|tasks) USING INDEX \w+_open|USE TEMP B-TREE FOR GROUP BY): select "(?:kind|pool)", "state", count/,
    because: "an index by kind or pool would be written twice with every job",
  },
  {
    plan: /^SCAN deliveries USING COVERING INDEX deliveries_due: select count/,
    because: "counts what waits",
  },
]

export const ALLOWED_QUERY_PLANS = [...BOUNDED, ...OF_WHAT_IS_OPEN]
