// Takes the heads of a peer's audit chains from its inventory: a chain that was cut short or rewritten raises an alarm here.
import * as z from 'zod'
import type { Call } from '../../../kernel/call.ts'
import { canonical } from '../../../kernel/canonical.ts'
import { isRefused } from '../../../kernel/errors.ts'
import { type CarriedCheckpoint, inventory_schema, inventoryData } from '../../../kernel/inventory.ts'
import type { MessageNumber } from '../../../kernel/journal.ts'
import { operation } from '../../../kernel/operation.ts'
import { delivered, openedMessage } from '../message/opened.ts'
import { verify } from '../message/verify.ts'
import { type PeerHead, peerHeads } from './model.ts'
import { comparison } from './rules.ts'

const outcome = z.strictObject({
  peer: z.string(),
  taken: z.int().min(0).meta({ description: 'Heads that are remembered now' }),
  contradicted: z.int().min(0).meta({ description: 'Heads that do not follow from the one that was told before' }),
  unverified: z.int().min(0).meta({ description: 'Heads that no key of the peer has signed as they stand' }),
})

export const take = operation({
  summary: 'Take the heads of a peer’s audit chains from its inventory',
  method: 'POST',
  path: '/api/v2/site/peerhead',
  input: delivered,
  output: outcome.meta({ id: 'PeerHeadsTaken' }),
  errors: ['signature_invalid', 'label_denied', 'invalid', 'unavailable'],
  allow: 'federation:deliver',
  max_body_bytes: 6 * 1_048_576,

  async run(call, given) {
    const awaited = { kind: 'inventory', schema: inventory_schema, data: inventoryData, named: 'an inventory' } as const
    const opened = await openedMessage(call, given, awaited)
    if (isRefused(opened)) return opened
    const { statement, said } = opened
    const { src } = statement
    const counts = { peer: src, taken: 0, contradicted: 0, unverified: 0 }
    for (const head of said.checkpoints) counts[await takeOne(call, src, head, statement)] += 1
    return counts
  },
})

async function takeOne(
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
    const found = comparison(known, told)
    if (found === 'longer') return { next: told, answer: undefined }
    if (found === 'same' || found === 'older') return { answer: undefined }
    // Remembered in place of the one before, so that it is told once; the event holds both, signatures included.
    return { next: told, audit: [alarm(call, found, known, told)], answer: found }
  })
  if (!answer) return 'taken'
  call.log.error(`site.peerhead.${answer}`, { peer, writer: head.writer, seq: head.seq })
  return 'contradicted'
}

function alarm(call: Call, found: 'rewritten' | 'cut_short', known: PeerHead, told: PeerHead) {
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
  if (isRefused(verified) || !('payload' in verified)) return false
  return Buffer.from(verified.payload, 'base64url').equals(Buffer.from(canonical(head)))
}
