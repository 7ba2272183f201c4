// Matches that are worth a reviewer's minute: open questions first, and of these the ones that would move most records.
import * as z from 'zod'
import { operation } from '../../../kernel/operation.ts'
import { listFields, pageOf, queryOf } from '../../../kernel/paging.ts'
import { uid, word } from '../fields.ts'
import { entityMatches, matchSummary, short } from './model.ts'

/** Less is as good as decided. */
const least_worth = 0.05

export const uncertain = operation({
  summary: 'List open matches, those first that a decision is worth most for',
  method: 'GET',
  path: '/api/v2/uncertain_match',
  tool: 'entity_match_uncertain',
  input: z.strictObject({ ...listFields, run_id: uid.optional(), lens: word.optional() }),
  output: pageOf(
    matchSummary.extend({
      worth: z.number().meta({
        description: 'Bits of doubt, times the logarithm of one more than the pairs of records that would change',
      }),
    }),
  ).meta({ id: 'UncertainMatchPage' }),
  errors: [],
  allow: 'resolution:read',

  async run(call, { limit, cursor, ...given }) {
    const { filter, ...query } = queryOf(given, limit, cursor, { field: 'worth', direction: 'desc' })
    const open = { ...filter, state: { in: ['proposed', 'deferred'] }, worth: { gte: least_worth } }
    const { docs, ...next } = await call.store(entityMatches).list({ ...query, filter: open })
    return { items: docs.map((doc) => ({ ...short(doc), worth: doc.value.worth })), ...next }
  },
})
