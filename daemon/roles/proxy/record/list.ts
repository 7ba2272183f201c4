// Lists audit records of public requests, newest first.
import * as z from 'zod'
import type { Call } from '../../../kernel/operation/call.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { buildListQuery, exactTotal, listFields, pageSchema } from '../../../kernel/operation/paging.ts'
import { writeCursor } from '../../../kernel/store/list-cursor.ts'
import type { DocumentTotal } from '../../../kernel/store/store.ts'
import { auditJournalPart } from '../parts.ts'
import { listSegmentRecords, type RequestRecordPage } from './list-segment-records.ts'
import { requestRecord, requestRecords, shippedSegments } from './model.ts'
import { buildRecordQuery, type RecordFilter, recordFilterFields } from './record-filter.ts'

export const list = operation({
  summary: 'List the audit records of public requests',
  method: 'GET',
  path: '/api/v2/proxy/record',
  input: z.strictObject({ ...listFields, ...recordFilterFields }),
  output: pageSchema(requestRecord).meta({ id: 'ProxyRecordPage' }),
  errors: [],
  allow: 'proxy:read',

  async run(call, { limit, cursor, ...filter }) {
    const page = await listRecords(call, filter, limit, cursor)
    return { ...page, ...(await countRecords(call, filter, page, cursor === undefined)) }
  },
})

async function listRecords(
  call: Call,
  filter: RecordFilter,
  limit: number,
  cursor: string | undefined,
): Promise<RequestRecordPage> {
  const [current, former] = call.part(auditJournalPart).storesWholeSegments
    ? [listInSegments, listDocuments]
    : [listDocuments, listInSegments]
  if (cursor?.startsWith(former_cursor_prefix)) {
    const inner = cursor.slice(former_cursor_prefix.length)
    return markAsFormer(await former(call, filter, limit, inner === sealStart(filter) ? undefined : inner))
  }
  const { items, next_cursor } = await current(call, filter, limit, cursor)
  if (next_cursor !== undefined) return { items, next_cursor }
  if (items.length === limit) return { items, next_cursor: former_cursor_prefix + sealStart(filter) }
  const rest = markAsFormer(await former(call, filter, limit - items.length, undefined))
  return { ...rest, items: [...items, ...rest.items] }
}

/** Records in whole segments are not counted, since each segment would have to be read. */
async function countRecords(
  call: Call,
  filter: RecordFilter,
  { items, next_cursor }: RequestRecordPage,
  isFirst: boolean,
): Promise<DocumentTotal> {
  if (isFirst && next_cursor === undefined) return exactTotal(items.length)
  const [stored, segments] = await Promise.all([
    call.store(requestRecords).total(buildRecordQuery(filter)),
    call.store(shippedSegments).total({ until: { exists: true } }),
  ])
  const total = Math.max(stored.total, items.length + (next_cursor === undefined ? 0 : 1))
  return { total, total_is: segments.total > 0 ? 'at_least' : stored.total_is }
}

/**
 * Prefix of cursors into records stored in the other form, before the site's documents were migrated; these are the
 * oldest.
 */
const former_cursor_prefix = 'before.'

function markAsFormer({ items, next_cursor }: RequestRecordPage): RequestRecordPage {
  return { items, ...(next_cursor === undefined ? {} : { next_cursor: former_cursor_prefix + next_cursor }) }
}

/** Where the records of the other form begin, for this filter alone. */
function sealStart(filter: RecordFilter): string {
  return writeCursor('former_record', { filter: buildRecordQuery(filter), limit: 1 }, { value: null, id: '' })
}

const listInSegments = listSegmentRecords

async function listDocuments(
  call: Call,
  filter: RecordFilter,
  limit: number,
  cursor: string | undefined,
): Promise<RequestRecordPage> {
  const order = { field: 'at', direction: 'desc' } as const
  const query = buildListQuery({}, limit, cursor, order)
  const { docs, ...next } = await call.store(requestRecords).list({ ...query, filter: buildRecordQuery(filter) })
  return { items: docs.map(({ value: { tenant_id: _, expires_ts: __, ...record } }) => record), ...next }
}
