// Lists exchanges of the caller's tenant, newest first.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { buildListQuery, listFields, pageSchema } from '../../../kernel/operation/paging.ts'
import { exchangeState, exchanges, exchangeView, showExchange } from './model.ts'

export const list = operation({
  summary: 'List exchanges with peers, including proposals that wait for an answer',
  method: 'GET',
  path: '/api/v2/fusion/exchange',
  input: z.strictObject({ ...listFields, state: exchangeState.optional() }),
  output: pageSchema(exchangeView).meta({ id: 'FusionExchangePage' }),
  errors: [],
  allow: 'resolution:read',

  async run(call, { limit, cursor, ...filter }) {
    const query = buildListQuery(filter, limit, cursor, { field: 'created_at', direction: 'desc' })
    const { docs, ...counted } = await call.store(exchanges).page(query)
    return { items: docs.map((doc) => showExchange(doc)), ...counted }
  },
})
