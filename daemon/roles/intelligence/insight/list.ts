// Lists insights of the caller's tenant, newest first.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { buildListQuery, listFields, pageSchema } from '../../../kernel/operation/paging.ts'
import { objectPaths } from '../object-paths.ts'
import { insight, insightState, insights } from './model.ts'
import { showInsight } from './view.ts'

export const list = operation({
  ...objectPaths('insight'),
  summary: 'List insights, newest first',
  method: 'GET',
  tool: 'insight_list',
  input: z.strictObject({ ...listFields, state: insightState.optional() }),
  output: pageSchema(insight).meta({ id: 'InsightPage' }),
  errors: [],
  allow: 'intelligence:read',

  async run(call, { limit, cursor, state }) {
    const query = buildListQuery({ state }, limit, cursor, { field: 'created_at', direction: 'desc' })
    const { docs, ...counted } = await call.store(insights).page(query)
    return { items: docs.map(showInsight), ...counted }
  },
})
