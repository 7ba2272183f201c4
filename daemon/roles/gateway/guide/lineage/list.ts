// Lists which artifacts were attached to traces, the newest first; those that were held back have an operation of their own.
import * as z from 'zod'
import { operation } from '../../../../kernel/operation/operation.ts'
import { buildListQuery, listFields, pageSchema } from '../../../../kernel/operation/paging.ts'
import { lineageEvent, lineageEvents } from './model.ts'
import { newestFirst, showLineage } from './rules.ts'

export const list = operation({
  summary: 'List the artifacts of guidance that were attached to traces, without those that were held back',
  method: 'GET',
  path: '/api/v1/guide/lineage',
  input: z.strictObject({
    ...listFields,
    trace_id: z.string().max(64).optional(),
    artifact_id: z.string().max(256).optional(),
  }),
  output: pageSchema(lineageEvent).meta({ id: 'GuidanceLineagePage' }),
  errors: [],
  allow: 'guide:admin',

  async run(call, { limit, cursor, ...filters }) {
    const query = buildListQuery({ ...filters, kind: 'attached' }, limit, cursor, newestFirst)
    const { docs, ...counted } = await call.store(lineageEvents).page(query)
    return { items: docs.map(({ value }) => showLineage(value)), ...counted }
  },
})
