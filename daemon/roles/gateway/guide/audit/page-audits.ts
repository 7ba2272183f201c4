// A page of audit records for the caller, by any of their fields.
import type { Call } from '../../../../kernel/operation/call.ts'
import type { Filter, FilterCondition } from '../../../../kernel/store/store.ts'
import { guideAudits } from './model.ts'
import { showAudit } from './view.ts'

export type AuditPageQuery = {
  readonly limit: number
  readonly cursor?: string | undefined
  readonly since?: string | undefined
  readonly until?: string | undefined
  readonly equal: Readonly<Record<string, string | undefined>>
  /** Fields with their least values. */
  readonly least?: readonly (readonly [string, number | undefined])[]
}

export async function pageAudits(call: Call, query: AuditPageQuery) {
  const { limit, cursor } = query
  const order = { field: 'create_ts', direction: 'desc' } as const
  const page = { filter: buildFilter(query), order, limit, fresh: true, ...(cursor === undefined ? {} : { cursor }) }
  const { docs, ...counted } = await call.store(guideAudits).page(page)
  return { items: docs.map(showAudit), ...counted }
}

function buildFilter({ since, until, equal, least = [] }: AuditPageQuery): Filter {
  const conditions: [string, FilterCondition][] = []
  for (const [field, value] of Object.entries(equal)) if (value !== undefined) conditions.push([field, value])
  for (const [field, value] of least) if (value !== undefined) conditions.push([field, { gte: value }])
  const time = {
    ...(since === undefined ? {} : { gte: Date.parse(since) }),
    ...(until === undefined ? {} : { lt: Date.parse(until) }),
  }
  if (Object.keys(time).length > 0) conditions.push(['create_ts', time])
  return Object.fromEntries(conditions)
}
