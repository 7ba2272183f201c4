// Signs a receipt of the messages that are missing from a peer, for a person to carry to it.
import * as z from 'zod'
import { jws } from '../../../kernel/cryptography/signatures.ts'
import { sha384 } from '../../../kernel/encoding/canonical-json.ts'
import { gapReceipt } from '../../../kernel/messaging/one-way-control.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { oneWayOf } from '../one-way.ts'

export const receipt = operation({
  summary: 'Sign a receipt of the messages missing from a peer',
  method: 'POST',
  path: '/api/v2/site/gap/receipt',
  input: z.strictObject({
    peer: z.string().min(1).max(64),
    epoch: z.int().min(1).max(99_999_999).optional().meta({ description: 'Default: the current epoch' }),
  }),
  output: z
    .strictObject({
      receipt: jws,
      says: gapReceipt,
      is_inventory_pending: z.boolean().meta({
        description:
          'True while later numbers may be missing too: no inventory of the epoch has arrived since it began or the site was restored',
      }),
      inventory_at: z.iso.datetime().optional().meta({ description: 'When the last inventory arrived' }),
      is_requested: z.boolean().meta({ description: 'Whether an accredited acknowledgement requests an inventory' }),
    })
    .meta({ id: 'GapReceipt', description: 'The signed receipt and its content' }),
  errors: ['not_found', 'unavailable'],
  allow: 'channel:receipt',

  async run(call, { peer, epoch: requestedEpoch }) {
    // Read first: an inventory that arrives in between only makes the receipt better than its report.
    const report = await oneWayOf(call).inventoryState(peer, requestedEpoch)
    const receipt = await oneWayOf(call).gapReceipt(peer, requestedEpoch)
    const payload = Buffer.from(receipt.payload, 'base64url')
    const content = gapReceipt.parse(JSON.parse(payload.toString('utf8')))
    const { epoch, floor, highest, missing } = content
    const detail = { epoch, floor, highest, runs: missing.length, digest: sha384(payload) }
    await call.record([call.audited('site.gap.receipt', peer, detail)])
    return { receipt, says: content, ...report }
  },
})
