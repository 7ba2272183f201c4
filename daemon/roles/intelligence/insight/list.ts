// Insights of the caller's tenant, newest first.
import * as z from 'zod'
import { operation } from '../../../kernel/operation.ts'
import { listFields, pageOf, queryOf } from '../../../kernel/paging.ts'
import { insight, insightState, insights } from './model.ts'
import { insightPaths } from './paths.ts'
import { shown } from './view.ts'

export const list = operation({
  ...insightPaths(),
  summary: 'List insights, newest first',
  method: 'GET',
  tool: 'insight_list',
  input: z.strictObject({ ...listFields, state: insightState.optional() }),
  output: pageOf(insight).meta({ id: 'InsightPage' }),
  errors: [],
  allow: 'intelligence:read',

  async run(call, { limit, cursor, state }) {
    const query = queryOf({ state }, limit, cursor, { field: 'created_at', direction: 'desc' })
    const { docs, ...next } = await call.store(insights).list(query)
    return { items: docs.map(shown), ...next }
  },
})
