// Lists which artifacts were attached to traces, the newest first; those that were held back have an operation of their own.
import * as z from 'zod'
import { operation } from '../../../../kernel/operation/operation.ts'
import { buildListQuery, listFields, pageSchema } from '../../../../kernel/operation/paging.ts'
import { lineageEvent, lineageEvents } from './model.ts'
import { newestFirst, oldestFirst, showLineage } from './rules.ts'

export const list = operation({
  summary: 'List the artifacts of guidance that were attached to traces, without those that were held back',
  method: 'GET',
  path: '/api/v1/guide/lineage',
  input: z.strictObject({
    ...listFields,
    trace_id: z.string().max(64).optional(),
    artifact_id: z.string().max(256).optional(),
    kind: z
      .enum(['attached', 'held_out'])
      .default('attached')
      .meta({ description: 'held_out: the traces that went without an artifact, so that its effect is measured' }),
    oldest_first: z.boolean().optional().meta({ description: 'The other way round, as a replay needs them' }),
  }),
  output: pageSchema(lineageEvent).meta({ id: 'GuidanceLineagePage' }),
  errors: [],
  allow: 'guide:admin',

  async run(call, { limit, cursor, oldest_first = false, ...filters }) {
    const order = oldest_first ? oldestFirst : newestFirst
    const query = buildListQuery(filters, limit, cursor, order)
    const { docs, ...counted } = await call.store(lineageEvents).page(query)
    return { items: docs.map(({ value }) => showLineage(value)), ...counted }
  },
})
