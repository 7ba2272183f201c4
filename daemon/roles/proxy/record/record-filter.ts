// The filter of a list of audit records: as callers write it, on a line of a segment, and as a query of the store.
import * as z from 'zod'
import type { Filter } from '../../../kernel/store/store.ts'
import type { RequestVerdict } from '../reasons.ts'
import { requestRecord } from './model.ts'
import type { RecordLineHead } from './record-line.ts'

/** Verdicts of requests that were not let through; `not_allow` stands for all of them. */
const refusedVerdicts = ['denied', 'method_not_allowed'] as const satisfies readonly RequestVerdict[]

export const recordFilterFields = {
  verdict: z
    .enum([...requestRecord.shape.verdict.options, 'not_allow'])
    .optional()
    .meta({ description: 'Verdict; not_allow: every verdict but allow' }),
  status: z.int().min(0).max(599).optional().meta({ description: 'Status of the response' }),
  rule: z.string().max(1_024).optional().meta({ description: 'The matching rule, such as GET /api/v1/report/{id}' }),
  source: z.string().max(64).optional().meta({ description: 'Address of the requests' }),
  since: z.iso.datetime().optional().meta({ description: 'Only records at or after this time' }),
  until: z.iso.datetime().optional().meta({ description: 'Only records before this time' }),
}
const recordFilter = z.strictObject(recordFilterFields)
export type RecordFilter = z.infer<typeof recordFilter>

/** The verdicts that the filter lets through; undefined for all. */
export function listVerdicts({ verdict }: RecordFilter): readonly RequestVerdict[] | undefined {
  if (verdict === undefined) return undefined
  return verdict === 'not_allow' ? refusedVerdicts : [verdict]
}

/** Whether a line is meant. Compiled once for a list, and applied to each line. */
export function compileRecordFilter(filter: RecordFilter): (head: RecordLineHead) => boolean {
  const { status, rule, source, since, until } = filter
  const verdicts = listVerdicts(filter)
  const first = since === undefined ? 0 : Date.parse(since)
  const end = until === undefined ? Number.POSITIVE_INFINITY : Date.parse(until)
  return (head) =>
    (verdicts === undefined || verdicts.includes(head.verdict)) &&
    (status === undefined || status === head.status) &&
    (rule === undefined || rule === head.rule) &&
    (source === undefined || source === head.source) &&
    head.at >= first &&
    head.at < end
}

/** The same for records that are documents. Their times are texts with milliseconds. */
export function buildRecordQuery(filter: RecordFilter): Filter {
  const { status, rule, source, since, until } = filter
  const [verdict, ...further] = listVerdicts(filter) ?? []
  const isTimed = since !== undefined || until !== undefined
  const at = {
    ...(since === undefined ? {} : { gte: new Date(since).toISOString() }),
    ...(until === undefined ? {} : { lt: new Date(until).toISOString() }),
  }
  return {
    ...(verdict === undefined ? {} : { verdict: further.length > 0 ? { in: [verdict, ...further] } : verdict }),
    ...(status === undefined ? {} : { status }),
    ...(rule === undefined ? {} : { rule }),
    ...(source === undefined ? {} : { source }),
    ...(isTimed ? { at } : {}),
  }
}
