// Audit records of public requests, newest first.
import * as z from 'zod'
import type { Call } from '../../../kernel/call.ts'
import { operation } from '../../../kernel/operation.ts'
import { listFields, pageOf, queryOf } from '../../../kernel/paging.ts'
import { auditJournalPart } from '../parts.ts'
import type { Wanted } from './marks.ts'
import { requestRecord, requests } from './model.ts'
import { type Records, recordsInSegments } from './segments.ts'

export const list = operation({
  summary: 'List the audit records of public requests',
  method: 'GET',
  path: '/api/v2/proxy/record',
  input: z.strictObject({
    ...listFields,
    verdict: requestRecord.shape.verdict.optional(),
    source: z.string().max(64).optional().meta({ description: 'Address whose requests are wanted' }),
  }),
  output: pageOf(requestRecord).meta({ id: 'ProxyRecordPage' }),
  errors: [],
  allow: 'proxy:read',

  async run(call, { limit, cursor, ...wanted }) {
    const [present, former] = call.part(auditJournalPart).isKeptWhole ? [inSegments, alone] : [alone, inSegments]
    if (cursor?.startsWith(before)) return moved(await former(call, wanted, limit, cursor.slice(before.length)))
    const { items, next_cursor } = await present(call, wanted, limit, cursor)
    if (next_cursor !== undefined) return { items, next_cursor }
    if (items.length === limit) return { items, next_cursor: before }
    const rest = moved(await former(call, wanted, limit - items.length, ''))
    return { ...rest, items: [...items, ...rest.items] }
  },
})

/** Begins a cursor into what was stored the other way, before the site's documents were moved: it is older than the rest. */
const before = 'before.'

function moved({ items, next_cursor }: Records): Records {
  return { items, ...(next_cursor === undefined ? {} : { next_cursor: before + next_cursor }) }
}

const inSegments = recordsInSegments

async function alone(call: Call, wanted: Wanted, limit: number, cursor: string | undefined): Promise<Records> {
  const query = queryOf(wanted, limit, cursor === '' ? undefined : cursor, { field: 'at', direction: 'desc' })
  const { docs, ...next } = await call.store(requests).list(query)
  return { items: docs.map(({ value: { tenant_id: _, expires_ts: __, ...shown } }) => shown), ...next }
}
