// Silences of the caller's tenant, newest first; past ones stay.
import * as z from 'zod'
import { operation } from '../../../kernel/operation.ts'
import { listFields, pageOf, queryOf } from '../../../kernel/paging.ts'
import type { Filter } from '../../../kernel/store.ts'
import { type SilenceState, silence, silenceState, silences } from './model.ts'
import { silencePaths } from './paths.ts'
import { shown } from './view.ts'

export const list = operation({
  ...silencePaths(),
  summary: 'List silences, newest first',
  method: 'GET',
  tool: 'signal_silence_list',
  input: z.strictObject({ ...listFields, state: silenceState.optional() }),
  output: pageOf(silence).meta({ id: 'SilencePage' }),
  errors: [],
  allow: 'intelligence:read',

  async run(call, { limit, cursor, state }) {
    const query = queryOf({}, limit, cursor, { field: 'created_at', direction: 'desc' })
    const { docs, ...next } = await call.store(silences).list({ ...query, filter: inState(state, call.now()) })
    return { items: await shown(call, docs), ...next }
  },
})

function inState(state: SilenceState | undefined, now_ms: number): Filter {
  if (state === undefined) return {}
  if (state === 'ended') return { until_ts: { lte: now_ms } }
  return { until_ts: { gt: now_ms }, starts_ts: state === 'active' ? { lte: now_ms } : { gt: now_ms } }
}
