// Lists matches of the caller's tenant, most certain first.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { buildListQuery, listFields, pageSchema } from '../../../kernel/operation/paging.ts'
import { objectPathAliases } from '../../../shared/object-path/object-path-aliases.ts'
import { shortText, summaryField, uid } from '../fields.ts'
import { decider, entityMatches, matchState, matchSummary, matchView, showMatch, summariseMatch } from './model.ts'

export const list = operation({
  summary: 'List matches, most certain first',
  method: 'GET',
  path: '/api/v2/entity_match',
  also: objectPathAliases('entitymatch'),
  tool: 'entity_match_list',
  input: z.strictObject({
    ...listFields,
    ...summaryField,
    run_id: uid.optional(),
    lens: shortText.optional(),
    state: matchState.optional(),
    decided_by: decider.optional(),
  }),
  output: pageSchema(z.union([matchView, matchSummary])).meta({ id: 'EntityMatchPage' }),
  errors: [],
  allow: 'resolution:read',

  async run(call, { limit, cursor, summary, ...filter }) {
    const query = buildListQuery(filter, limit, cursor, { field: 'rank', direction: 'desc' })
    const { docs, ...counted } = await call.store(entityMatches).page(query)
    return { items: docs.map(summary ? summariseMatch : showMatch), ...counted }
  },
})
