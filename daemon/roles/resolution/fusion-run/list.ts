// Lists runs of the caller's tenant, newest first.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { buildListQuery, listFields, pageSchema } from '../../../kernel/operation/paging.ts'
import { objectPathAliases } from '../../../shared/object-path/object-path-aliases.ts'
import { shortText, summaryField } from '../fields.ts'
import { fusionRuns, runState, runSummary, runView, showRun, summariseRun } from './model.ts'

export const list = operation({
  summary: 'List runs',
  method: 'GET',
  path: '/api/v2/fusion_run',
  also: objectPathAliases('fusionrun'),
  tool: 'fusion_run_list',
  input: z.strictObject({
    ...listFields,
    ...summaryField,
    state: runState.optional(),
    lens: shortText.optional(),
    active: z.boolean().optional().meta({ description: 'true: only runs with pending work; false: only runs without' }),
  }),
  output: pageSchema(z.union([runView, runSummary])).meta({ id: 'FusionRunPage' }),
  errors: [],
  allow: 'resolution:read',

  async run(call, { limit, cursor, summary, active, ...fields }) {
    const query = buildListQuery(fields, limit, cursor, { field: 'created_at', direction: 'desc' })
    const filter = { ...query.filter, ...(active === undefined ? {} : { job_due_ts: { exists: active } }) }
    const { docs, ...counted } = await call.store(fusionRuns).page({ ...query, filter })
    return { items: docs.map((doc) => (summary ? summariseRun(doc) : showRun(doc))), ...counted }
  },
})
