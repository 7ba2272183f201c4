// Exchanges of the caller's tenant, newest first.
import * as z from 'zod'
import { operation } from '../../../kernel/operation.ts'
import { listFields, pageOf, queryOf } from '../../../kernel/paging.ts'
import { exchangeState, exchanges, exchangeView, shown } from './model.ts'

export const list = operation({
  summary: 'List exchanges with peers, those that wait for an answer among them',
  method: 'GET',
  path: '/api/v2/fusion/exchange',
  input: z.strictObject({ ...listFields, state: exchangeState.optional() }),
  output: pageOf(exchangeView).meta({ id: 'FusionExchangePage' }),
  errors: [],
  allow: 'resolution:read',

  async run(call, { limit, cursor, ...filter }) {
    const query = queryOf(filter, limit, cursor, { field: 'created_at', direction: 'desc' })
    const { docs, ...next } = await call.store(exchanges).list(query)
    return { items: docs.map((doc) => shown(doc)), ...next }
  },
})
