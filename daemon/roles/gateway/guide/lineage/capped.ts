// Lists the traces in which a cap held artifacts back, the newest first.
import * as z from 'zod'
import { operation } from '../../../../kernel/operation/operation.ts'
import { buildListQuery, listFields, pageSchema } from '../../../../kernel/operation/paging.ts'
import { lineageEvent, lineageEvents } from './model.ts'
import { newestFirst, showLineage } from './rules.ts'

export const capped = operation({
  summary: 'List the traces in which a cap held an artifact of guidance back',
  method: 'GET',
  path: '/api/v1/guide/lineage/capped',
  input: z.strictObject({ ...listFields, artifact_id: z.string().max(256).optional() }),
  output: pageSchema(lineageEvent).meta({ id: 'CappedGuidancePage' }),
  errors: [],
  allow: 'guide:admin',

  async run(call, { limit, cursor, ...filters }) {
    const query = buildListQuery({ ...filters, kind: 'capped' }, limit, cursor, newestFirst)
    const { docs, ...counted } = await call.store(lineageEvents).page(query)
    return { items: docs.map(({ value }) => showLineage(value)), ...counted }
  },
})
