// Lists open matches by review worth: uncertainty, and the number of records that a decision would move.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { buildListQuery, listFields, pageSchema } from '../../../kernel/operation/paging.ts'
import { shortText, uid } from '../fields.ts'
import { entityMatches, matchSummary, summariseMatch } from './model.ts'

/** A match with less worth is practically decided. */
const min_worth = 0.05

export const uncertain = operation({
  summary: 'List open matches, most worth a review first',
  method: 'GET',
  path: '/api/v2/uncertain_match',
  tool: 'entity_match_uncertain',
  input: z.strictObject({ ...listFields, run_id: uid.optional(), lens: shortText.optional() }),
  output: pageSchema(
    matchSummary.extend({
      worth: z.number().meta({
        description: 'Bits of uncertainty, times the logarithm of one plus the pairs of records that would change',
      }),
    }),
  ).meta({ id: 'UncertainMatchPage' }),
  errors: [],
  allow: 'resolution:read',

  async run(call, { limit, cursor, ...fields }) {
    const { filter, ...query } = buildListQuery(fields, limit, cursor, { field: 'worth', direction: 'desc' })
    const open = { ...filter, state: { in: ['proposed', 'deferred'] }, worth: { gte: min_worth } }
    const { docs, ...counted } = await call.store(entityMatches).page({ ...query, filter: open })
    return { items: docs.map((doc) => ({ ...summariseMatch(doc), worth: doc.value.worth })), ...counted }
  },
})
