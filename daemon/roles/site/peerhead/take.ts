// Accepts the heads of a peer's audit chains from its inventory, and reports chains that were cut short or rewritten.
import * as z from 'zod'
import { isRefusal } from '../../../kernel/error/errors.ts'
import { type CarriedCheckpoint, inventory_schema, inventoryData } from '../../../kernel/messaging/inventory.ts'
import type { MessageNumber } from '../../../kernel/messaging/journal.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { type CheckpointFault, findCheckpointFault } from '../../../shared/audit-checkpoint/find-checkpoint-fault.ts'
import { deliveredMessage, openMessage } from '../message/open-message.ts'
import { peersPart, signaturesPart } from '../parts.ts'
import { type PeerHead, peerHeads } from './model.ts'
import { compareHeads } from './rules.ts'

const headCounts = z.strictObject({
  peer: z.string(),
  taken: z.int().min(0).meta({ description: 'Heads that were stored' }),
  contradicted: z.int().min(0).meta({ description: 'Heads that contradict the stored head' }),
  unverified: z.int().min(0).meta({ description: 'Heads without a valid signature of the peer' }),
})

export const take = operation({
  summary: 'Accept the heads of a peer’s audit chains from its inventory',
  method: 'POST',
  path: '/api/v2/site/peerhead',
  input: deliveredMessage,
  output: headCounts.meta({ id: 'PeerHeadsTaken' }),
  errors: ['not_found', 'signature_invalid', 'label_denied'],
  allow: 'federation:deliver',
  max_body_bytes: 6 * 1_048_576,

  async run(call, message) {
    const expected = {
      kind: 'inventory',
      schema: inventory_schema,
      data: inventoryData,
      description: 'an inventory',
    } as const
    const opened = await openMessage(call, message, expected)
    if (isRefusal(opened)) return opened
    const { statement, data } = opened
    const { src } = statement
    const counts = { peer: src, taken: 0, contradicted: 0, unverified: 0 }
    const unverified: CarriedCheckpoint[] = []
    for (const head of data.checkpoints) {
      const outcome = await takeHead(call, src, head, statement)
      counts[outcome] += 1
      if (outcome === 'unverified') unverified.push(head)
    }
    if (unverified.length > 0) await call.record([unverifiedEvent(call, src, unverified, statement)])
    return counts
  },
})

async function takeHead(
  call: Call,
  peer: string,
  head: CarriedCheckpoint,
  { epoch, seq: number }: MessageNumber,
): Promise<'taken' | 'contradicted' | 'unverified'> {
  const fault = await findHeadFault(call, peer, head)
  if (fault) {
    call.log.warn('site.peerhead.unverified', { peer, writer: head.writer, seq: head.seq, fault })
    return 'unverified'
  }
  const reported: PeerHead = { tenant_id: call.site.tenant_id, peer, ...head, epoch, number }
  const store = call.store(peerHeads)
  const id = `${peer}:${head.writer}`
  if ((await store.create(id, reported)) !== 'exists') return 'taken'
  const { answer } = await store.update(id, ({ value: stored }) => {
    const comparison = compareHeads(stored, reported)
    if (comparison === 'longer') return { next: reported, answer: undefined }
    if (comparison === 'same' || comparison === 'older') return { answer: undefined }
    // Replaces the stored head, so that a contradiction is reported once; the event has both heads with their
    // signatures.
    return { next: reported, audit: [contradictionEvent(call, comparison, stored, reported)], answer: comparison }
  })
  if (!answer) return 'taken'
  call.log.error(`site.peerhead.${answer}`, { peer, writer: head.writer, seq: head.seq })
  return 'contradicted'
}

/** A peer that signs an inventory and not its heads hides a chain: one record for each such inventory. */
function unverifiedEvent(
  call: Call,
  peer: string,
  heads: readonly CarriedCheckpoint[],
  { epoch, seq: number }: MessageNumber,
) {
  const detail = { epoch, heads: heads.map(({ writer, seq }) => ({ seq, writer })), number, peer }
  return { ...call.audited('site.peerhead.unverified', peer, detail), outcome: 'refused' as const }
}

function contradictionEvent(call: Call, comparison: 'rewritten' | 'cut_short', stored: PeerHead, reported: PeerHead) {
  const evidence = ({ seq, hash, at, signature, epoch, number }: PeerHead) => ({
    ...{ at, epoch, hash, number, seq, signature },
  })
  const detail = { found: comparison, before: evidence(stored), now: evidence(reported), peer: reported.peer }
  return { ...call.audited('site.peerhead.contradict', reported.writer, detail), outcome: 'refused' as const }
}

async function findHeadFault(call: Call, name: string, head: CarriedCheckpoint): Promise<CheckpointFault | undefined> {
  const peer = await call.part(peersPart).get(name)
  if (!peer) return 'unknown_key'
  return await findCheckpointFault(head, { site: name, ...peer }, call.part(signaturesPart))
}
