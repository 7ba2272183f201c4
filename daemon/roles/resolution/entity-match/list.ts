// Matches of the caller's tenant, the most certain first.
import * as z from 'zod'
import { operation } from '../../../kernel/operation.ts'
import { ownedPaths } from '../../../kernel/owned.ts'
import { listFields, pageOf, queryOf } from '../../../kernel/paging.ts'
import { summaryField, uid, word } from '../fields.ts'
import { decider, entityMatches, matchState, matchSummary, matchView, short, shown } from './model.ts'

export const list = operation({
  summary: 'List matches, the most certain first',
  method: 'GET',
  path: '/api/v2/entity_match',
  also: ownedPaths('entitymatch'),
  tool: 'entity_match_list',
  input: z.strictObject({
    ...listFields,
    ...summaryField,
    run_id: uid.optional(),
    lens: word.optional(),
    state: matchState.optional(),
    decided_by: decider.optional(),
  }),
  output: pageOf(z.union([matchView, matchSummary])).meta({ id: 'EntityMatchPage' }),
  errors: [],
  allow: 'resolution:read',

  async run(call, { limit, cursor, summary, ...filter }) {
    const query = queryOf(filter, limit, cursor, { field: 'rank', direction: 'desc' })
    const { docs, ...next } = await call.store(entityMatches).list(query)
    return { items: docs.map(summary ? short : shown), ...next }
  },
})
