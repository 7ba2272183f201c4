// Where an accredited way back exists: a receipt of fixed size at a fixed rate, so that its sending tells nothing.
import * as z from 'zod'
import { canonical } from '../../../../daemon/kernel/canonical.ts'
import type { SentHead } from '../../../../daemon/kernel/journal.ts'
import { type Jws, jws } from '../../../../daemon/kernel/keys.ts'
import type { Label } from '../../../../daemon/kernel/label.ts'
import type { Peer } from '../../../../daemon/kernel/peer.ts'
import type { MessageBody, Outgoing } from '../../../../daemon/kernel/transport.ts'
import type { Line } from '../line.ts'
import type { Surroundings } from '../surroundings.ts'
import { makeGapReceipt } from './gap-receipt.ts'
import { ownLabel } from './own-label.ts'

export const acknowledgement_schema = 'platform.acknowledgement/1'

export const acknowledgementData = z.strictObject({ receipt: jws, padding: z.string() })

/** Every body is as large as this, or a multiple where the site's keys make signatures that do not fit. */
export const acknowledgement_bytes = 8_192

/** Room for a receipt of some runs beside the signatures, so that the size follows from the keys alone. */
const least_receipt_bytes = 1_536

export async function composeAcknowledgement(
  line: Line,
  peer: Peer,
  head: SentHead,
  around: Surroundings,
): Promise<Outgoing> {
  const label = ownLabel(peer, around)
  const empty = await makeGapReceipt(line, peer, around, { most_bytes: 0 })
  const size = sizeFor(empty)
  const room = size - bodyBytes(label, empty, '')
  const said = Buffer.byteLength(empty.payload, 'base64url')
  // Four characters for three bytes; the numbers of the two receipts may differ by a few digits.
  const most_bytes = said + Math.floor((room * 3) / 4) - spare_bytes
  const receipt = await makeGapReceipt(line, peer, around, { most_bytes })
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
  const needed = JSON.stringify(signatures).length + least_receipt_bytes
  return Math.ceil(needed / acknowledgement_bytes) * acknowledgement_bytes
}

function bodyBytes(label: Label, receipt: Jws, padding: string): number {
  const body: MessageBody = { label, schema: acknowledgement_schema, data: { receipt, padding } }
  return Buffer.byteLength(canonical(body))
}
