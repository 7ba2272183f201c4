// Takes the heads of a peer's audit chains from its inventory: a chain that was cut short or rewritten raises an alarm here.
import * as z from 'zod'
import { canonicalJson } from '../../../kernel/encoding/canonical-json.ts'
import { isRefusal } from '../../../kernel/error/errors.ts'
import { type CarriedCheckpoint, inventory_schema, inventoryData } from '../../../kernel/messaging/inventory.ts'
import type { MessageNumber } from '../../../kernel/messaging/journal.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { deliveredMessage, openMessage } from '../message/open-message.ts'
import { verify } from '../message/verify.ts'
import { type PeerHead, peerHeads } from './model.ts'
import { compareHeads } from './rules.ts'

const headCounts = z.strictObject({
  peer: z.string(),
  taken: z.int().min(0).meta({ description: 'Heads that are remembered now' }),
  contradicted: z.int().min(0).meta({ description: 'Heads that do not follow from the one that was told before' }),
  unverified: z.int().min(0).meta({ description: 'Heads that no key of the peer has signed as they stand' }),
})

export const take = operation({
  summary: 'Take the heads of a peer’s audit chains from its inventory',
  method: 'POST',
  path: '/api/v2/site/peerhead',
  input: deliveredMessage,
  output: headCounts.meta({ id: 'PeerHeadsTaken' }),
  errors: ['signature_invalid', 'label_denied', 'invalid', 'unavailable'],
  allow: 'federation:deliver',
  max_body_bytes: 6 * 1_048_576,

  async run(call, given) {
    const awaited = { kind: 'inventory', schema: inventory_schema, data: inventoryData, named: 'an inventory' } as const
    const opened = await openMessage(call, given, awaited)
    if (isRefusal(opened)) return opened
    const { statement, said } = opened
    const { src } = statement
    const counts = { peer: src, taken: 0, contradicted: 0, unverified: 0 }
    for (const head of said.checkpoints) counts[await takeHead(call, src, head, statement)] += 1
    return counts
  },
})

async function takeHead(
  call: Call,
  peer: string,
  head: CarriedCheckpoint,
  { epoch, seq: number }: MessageNumber,
): Promise<'taken' | 'contradicted' | 'unverified'> {
  if (!(await isSigned(call, peer, head))) {
    call.log.warn('site.peerhead.unverified', { peer, writer: head.writer, seq: head.seq })
    return 'unverified'
  }
  const told: PeerHead = { tenant_id: call.site.tenant_id, peer, ...head, epoch, number }
  const store = call.store(peerHeads)
  const id = `${peer}:${head.writer}`
  if ((await store.create(id, told)) !== 'exists') return 'taken'
  const { answer } = await store.update(id, ({ value: known }) => {
    const found = compareHeads(known, told)
    if (found === 'longer') return { next: told, answer: undefined }
    if (found === 'same' || found === 'older') return { answer: undefined }
    // Remembered in place of the one before, so that it is told once; the event holds both, signatures included.
    return { next: told, audit: [contradictionEvent(call, found, known, told)], answer: found }
  })
  if (!answer) return 'taken'
  call.log.error(`site.peerhead.${answer}`, { peer, writer: head.writer, seq: head.seq })
  return 'contradicted'
}

function contradictionEvent(call: Call, found: 'rewritten' | 'cut_short', known: PeerHead, told: PeerHead) {
  const evidence = ({ seq, hash, at, signature, epoch, number }: PeerHead) => ({
    ...{ at, epoch, hash, number, seq, signature },
  })
  const about = { found, before: evidence(known), now: evidence(told), peer: told.peer }
  return { ...call.audited('site.peerhead.contradict', told.writer, about), outcome: 'refused' as const }
}

/** By the peer itself, about a chain of its own. */
async function isSigned(call: Call, peer: string, { signature, ...head }: CarriedCheckpoint): Promise<boolean> {
  if (!head.writer.endsWith(`@${peer}`)) return false
  const verified = await verify.run(call, { peer, type: 'checkpoint', envelope: signature })
  if (isRefusal(verified) || !('payload' in verified)) return false
  return Buffer.from(verified.payload, 'base64url').equals(Buffer.from(canonicalJson(head)))
}
