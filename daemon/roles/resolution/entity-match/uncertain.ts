// Matches that are worth a reviewer's minute: open questions first, and of these the ones that would move most records.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { buildListQuery, listFields, pageSchema } from '../../../kernel/operation/paging.ts'
import { shortText, uid } from '../fields.ts'
import { entityMatches, matchSummary, summariseMatch } from './model.ts'

/** Less is as good as decided. */
const min_worth = 0.05

export const uncertain = operation({
  summary: 'List open matches, those first that a decision is worth most for',
  method: 'GET',
  path: '/api/v2/uncertain_match',
  tool: 'entity_match_uncertain',
  input: z.strictObject({ ...listFields, run_id: uid.optional(), lens: shortText.optional() }),
  output: pageSchema(
    matchSummary.extend({
      worth: z.number().meta({
        description: 'Bits of doubt, times the logarithm of one more than the pairs of records that would change',
      }),
    }),
  ).meta({ id: 'UncertainMatchPage' }),
  errors: [],
  allow: 'resolution:read',

  async run(call, { limit, cursor, ...given }) {
    const { filter, ...query } = buildListQuery(given, limit, cursor, { field: 'worth', direction: 'desc' })
    const open = { ...filter, state: { in: ['proposed', 'deferred'] }, worth: { gte: min_worth } }
    const { docs, ...next } = await call.store(entityMatches).list({ ...query, filter: open })
    return { items: docs.map((doc) => ({ ...summariseMatch(doc), worth: doc.value.worth })), ...next }
  },
})
