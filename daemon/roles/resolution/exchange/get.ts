// Shows one exchange.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { uid } from '../fields.ts'
import { runWork } from '../parts.ts'
import { exchanges, exchangeView, runIdOfExchange, showExchange } from './model.ts'

export const get = operation({
  summary: 'Get one exchange: its agreement, its progress, and warnings about disclosures',
  method: 'GET',
  path: '/api/v2/fusion/exchange/{uid}',
  input: z.strictObject({ uid }),
  output: exchangeView,
  errors: ['not_found'],
  allow: 'resolution:read',
  versioned: true,

  async run(call, { uid: id }) {
    const doc = await call.store(exchanges).get(id)
    return showExchange(
      doc,
      doc.value.job_due_ts === undefined ? undefined : call.part(runWork).progress(runIdOfExchange(id)),
    )
  },
})
