// Composes an acknowledgement for an accredited return path: fixed size and rate, so that it leaks no traffic data.
import * as z from 'zod'
import { type Jws, jws } from '../../../../../daemon/kernel/cryptography/signatures.ts'
import { canonicalJson } from '../../../../../daemon/kernel/encoding/canonical-json.ts'
import type { Peer } from '../../../../../daemon/kernel/identity/peer.ts'
import type { Label } from '../../../../../daemon/kernel/label/label.ts'
import type { SentHead } from '../../../../../daemon/kernel/messaging/journal.ts'
import type { MessageBody } from '../../../../../daemon/kernel/messaging/statement.ts'
import type { OutboundMessage } from '../../../../../daemon/kernel/messaging/transport.ts'
import type { FiledropContext } from '../../filedrop-context.ts'
import type { FiledropLink } from '../../link/filedrop-link.ts'
import { ownLabel } from '../own-label.ts'
import { makeGapReceipt } from './gap-receipt.ts'

export const acknowledgement_schema = 'platform.acknowledgement/1'

export const acknowledgementData = z.strictObject({ receipt: jws, padding: z.string() })

/** Every body is as large as this, or a multiple where the site's keys make signatures that do not fit. */
export const acknowledgement_bytes = 8_192

/** Room for a receipt of some runs beside the signatures, so that the size follows from the keys alone. */
const min_receipt_bytes = 1_536

export async function composeAcknowledgement(
  link: FiledropLink,
  peer: Peer,
  head: SentHead,
  filedrop: FiledropContext,
): Promise<OutboundMessage> {
  const label = ownLabel(peer, filedrop)
  const empty = await makeGapReceipt(link, peer, filedrop, { most_bytes: 0 })
  const size = sizeFor(empty)
  const room = size - bodyBytes(label, empty, '')
  const signed_bytes = Buffer.byteLength(empty.payload, 'base64url')
  // Four characters for three bytes; the numbers of the two receipts may differ by a few digits.
  const most_bytes = signed_bytes + Math.floor((room * 3) / 4) - spare_bytes
  const receipt = await makeGapReceipt(link, peer, filedrop, { most_bytes })
  const padding = ' '.repeat(size - bodyBytes(label, receipt, ''))
  return {
    peer: peer.name,
    event_id: `acknowledgement:${head.epoch}:${head.seq + 1}`,
    kind: 'gap_receipt',
    schema: acknowledgement_schema,
    body: { receipt, padding },
    label,
    parent_block_ids: [],
  }
}

const spare_bytes = 128

function sizeFor({ signatures }: Jws): number {
  const needed = JSON.stringify(signatures).length + min_receipt_bytes
  return Math.ceil(needed / acknowledgement_bytes) * acknowledgement_bytes
}

function bodyBytes(label: Label, receipt: Jws, padding: string): number {
  const body: MessageBody = { label, schema: acknowledgement_schema, data: { receipt, padding } }
  return Buffer.byteLength(canonicalJson(body))
}
