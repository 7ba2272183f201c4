// Sends a run of messages to a peer again: the same bytes under the same numbers.
import * as z from 'zod'
import { resendReport } from '../../../kernel/messaging/one-way-control.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { oneWayOf } from '../one-way.ts'

const sequenceNumber = z.int().min(1).max(Number.MAX_SAFE_INTEGER)

export const resend = operation({
  summary: 'Send a run of messages to a peer again',
  method: 'POST',
  path: '/api/v2/site/message/resend',
  input: z.strictObject({
    peer: z.string().min(1).max(64),
    epoch: z.int().min(1).max(99_999_999).optional().meta({ description: 'Default: the current epoch' }),
    first: sequenceNumber,
    last: sequenceNumber,
  }),
  output: resendReport,
  errors: ['not_found', 'rate_limited', 'unavailable'],
  allow: 'channel:resend',

  async run(call, { peer, epoch, first, last }) {
    const detail = { first, last, ...(epoch === undefined ? {} : { epoch }) }
    // Audited before anything is sent; the numbers that were sent are in the answer and the log.
    await call.record([call.audited('site.message.resend', peer, detail)])
    return await oneWayOf(call).resend({ peer, first, last, ...(epoch === undefined ? {} : { epoch }) })
  },
})
