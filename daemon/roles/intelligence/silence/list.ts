// Lists silences of the caller's tenant, newest first, ended ones included.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { buildListQuery, listFields, pageSchema } from '../../../kernel/operation/paging.ts'
import type { Filter } from '../../../kernel/store/store.ts'
import { objectPaths } from '../object-paths.ts'
import { type SilenceState, silence, silenceState, silences } from './model.ts'
import { showSilences } from './view.ts'

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
    // The store counts silences of signals that the caller may not see.
    const isWhole = cursor === undefined && page.next_cursor === undefined
    const total = { total: items.length, total_is: isWhole ? 'exact' : 'at_least' } as const
    return { items, ...total, ...(page.next_cursor === undefined ? {} : { next_cursor: page.next_cursor }) }
  },
})

function filterByState(state: SilenceState | undefined, now_ms: number): Filter {
  if (state === undefined) return {}
  if (state === 'ended') return { until_ts: { lte: now_ms } }
  return { until_ts: { gt: now_ms }, starts_ts: state === 'active' ? { lte: now_ms } : { gt: now_ms } }
}
