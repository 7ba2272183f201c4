// One exchange.
import * as z from 'zod'
import { operation } from '../../../kernel/operation.ts'
import { uid } from '../fields.ts'
import { exchanges, exchangeView, shown } from './model.ts'

export const get = operation({
  summary: 'Get one exchange: what is agreed, how far it is, and what it gives away',
  method: 'GET',
  path: '/api/v2/fusion/exchange/{uid}',
  input: z.strictObject({ uid }),
  output: exchangeView,
  errors: ['not_found'],
  allow: 'resolution:read',
  versioned: true,

  run: async (call, { uid: id }) => shown(await call.store(exchanges).get(id)),
})
