// Lists the anchored heads of audit chains, newest first.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { buildListQuery, listFields, pageSchema } from '../../../kernel/operation/paging.ts'
import { checkpoint } from '../../../shared/audit-checkpoint/audit-checkpoint.ts'
import { checkpoints } from './model.ts'

export const list = operation({
  summary: 'List anchored heads of audit chains',
  method: 'GET',
  path: '/api/v2/site/checkpoint',
  input: z.strictObject({ ...listFields, writer: z.string().max(256).optional() }),
  output: pageSchema(checkpoint).meta({ id: 'CheckpointPage' }),
  errors: [],
  allow: 'audit:read',

  async run(call, { limit, cursor, ...filter }) {
    const { docs, ...counted } = await call
      .store(checkpoints)
      .page(buildListQuery(filter, limit, cursor, { field: 'at', direction: 'desc' }))
    return { items: docs.map(({ id, value: { tenant_id: _tenant, ...head } }) => ({ id, ...head })), ...counted }
  },
})
