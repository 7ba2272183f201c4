// Lists silences of the caller's tenant, newest first, ended ones included.
import * as z from 'zod'
import type { Call } from '../../../kernel/operation/call.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { buildListQuery, exactTotal, listFields, pageSchema } from '../../../kernel/operation/paging.ts'
import type { DocumentTotal, Filter } from '../../../kernel/store/store.ts'
import { objectPaths } from '../object-paths.ts'
import { type SilenceState, silence, silenceState, silences } from './model.ts'
import { maySee, showSilences } from './view.ts'

export const list = operation({
  ...objectPaths('signal-silence'),
  summary: 'List silences, newest first',
  method: 'GET',
  tool: 'signal_silence_list',
  input: z.strictObject({ ...listFields, state: silenceState.optional() }),
  output: pageSchema(silence).meta({ id: 'SilencePage' }),
  errors: [],
  allow: 'intelligence:read',

  async run(call, { limit, cursor, state }) {
    const query = buildListQuery({}, limit, cursor, { field: 'created_at', direction: 'desc' })
    const page = await call.store(silences).list({ ...query, filter: filterByState(state, call.now()) })
    const items = await showSilences(call, page.docs)
    const isWhole = cursor === undefined && page.next_cursor === undefined
    const counted = isWhole ? exactTotal(items.length) : await countVisible(call, filterByState(state, call.now()))
    const total = Math.max(counted.total, items.length)
    return { items, ...counted, total, ...(page.next_cursor === undefined ? {} : { next_cursor: page.next_cursor }) }
  },
})

/** Visible silences that are counted, and silences that are read for it: the store cannot tell which are visible. */
const max_counted = 1_000
const max_read = 10_000

async function countVisible(call: Call, filter: Filter): Promise<DocumentTotal> {
  let [total, read] = [0, 0]
  for (let cursor: string | undefined; ; ) {
    const query = buildListQuery({}, count_page, cursor, { field: 'created_at', direction: 'desc' })
    const { docs, next_cursor } = await call.store(silences).list({ ...query, filter })
    read += docs.length
    total += docs.filter(({ value }) => maySee(call, value)).length
    if (next_cursor === undefined && total <= max_counted) return exactTotal(total)
    if (total > max_counted || read >= max_read) return { total: Math.min(total, max_counted), total_is: 'at_least' }
    cursor = next_cursor
  }
}

/** Some milliseconds of reading. */
const count_page = 250

function filterByState(state: SilenceState | undefined, now_ms: number): Filter {
  if (state === undefined) return {}
  if (state === 'ended') return { until_ts: { lte: now_ms } }
  return { until_ts: { gt: now_ms }, starts_ts: state === 'active' ? { lte: now_ms } : { gt: now_ms } }
}
