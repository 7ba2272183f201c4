// Sends the messages again that a peer's signed receipt lists as missing.
import * as z from 'zod'
import { jws } from '../../../kernel/cryptography/signatures.ts'
import { sha384 } from '../../../kernel/encoding/canonical-json.ts'
import { resendReport } from '../../../kernel/messaging/one-way-control.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { oneWayOf } from '../one-way.ts'

export const resend = operation({
  summary: 'Send the messages again that a peer’s receipt lists as missing',
  method: 'POST',
  path: '/api/v2/site/gap/resend',
  input: z.strictObject({
    receipt: jws,
    from: z.int().min(1).optional().meta({ description: 'Only from this number on' }),
  }),
  output: resendReport,
  errors: ['signature_invalid', 'invalid', 'rate_limited', 'unavailable'],
  allow: 'channel:resend',

  async run(call, { receipt, from }) {
    // Audited before anything is sent; the numbers that were sent are in the answer and the log.
    const digest = sha384(Buffer.from(receipt.payload, 'base64url'))
    await call.record([call.audited('site.gap.resend', digest, from === undefined ? {} : { from })])
    return await oneWayOf(call).resendFor(receipt, from)
  },
})
