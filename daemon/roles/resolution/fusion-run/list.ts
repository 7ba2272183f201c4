// Runs of the caller's tenant, newest first.
import * as z from 'zod'
import { operation } from '../../../kernel/operation.ts'
import { ownedPaths } from '../../../kernel/owned.ts'
import { listFields, pageOf, queryOf } from '../../../kernel/paging.ts'
import { summaryField, word } from '../fields.ts'
import { fusionRuns, runState, runSummary, runView, short, shown } from './model.ts'

export const list = operation({
  summary: 'List runs',
  method: 'GET',
  path: '/api/v2/fusion_run',
  also: ownedPaths('fusionrun'),
  tool: 'fusion_run_list',
  input: z.strictObject({
    ...listFields,
    ...summaryField,
    state: runState.optional(),
    lens: word.optional(),
    active: z.boolean().optional().meta({ description: 'Only those that have something to do, or only the others' }),
  }),
  output: pageOf(z.union([runView, runSummary])).meta({ id: 'FusionRunPage' }),
  errors: [],
  allow: 'resolution:read',

  async run(call, { limit, cursor, summary, active, ...given }) {
    const filter = { ...given, ...(active === undefined ? {} : { owes: active ? 1 : 0 }) }
    const query = queryOf(filter, limit, cursor, { field: 'created_at', direction: 'desc' })
    const { docs, ...next } = await call.store(fusionRuns).list(query)
    return { items: docs.map((doc) => (summary ? short(doc) : shown(doc))), ...next }
  },
})
