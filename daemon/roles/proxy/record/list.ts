// Audit records of public requests, newest first.
import * as z from 'zod'
import { operation } from '../../../kernel/operation.ts'
import { listFields, pageOf, queryOf } from '../../../kernel/paging.ts'
import { requestRecord, requests } from './model.ts'

export const list = operation({
  summary: 'List the audit records of public requests',
  method: 'GET',
  path: '/api/v2/proxy/record',
  input: z.strictObject({
    ...listFields,
    verdict: requestRecord.shape.verdict.optional(),
    source: z.string().max(64).optional().meta({ description: 'Address whose requests are wanted' }),
  }),
  output: pageOf(requestRecord).meta({ id: 'ProxyRecordPage' }),
  errors: [],
  allow: 'proxy:read',

  async run(call, { limit, cursor, ...filter }) {
    const query = queryOf(filter, limit, cursor, { field: 'at', direction: 'desc' })
    const { docs, ...next } = await call.store(requests).list(query)
    return { items: docs.map(({ value: { tenant_id: _, expires_ts: __, ...shown } }) => shown), ...next }
  },
})
