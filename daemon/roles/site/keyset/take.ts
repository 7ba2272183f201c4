// Accepts a peer's new key set: once it follows the pinned one, its keys become the peer's keys.
import * as z from 'zod'
import { keysData } from '../../../kernel/cryptography/key-set.ts'
import { type Jws, jws } from '../../../kernel/cryptography/signatures.ts'
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { keys_schema } from '../../../kernel/messaging/one-way-control.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { followKeySets } from '../../../shared/key-set/key-succession.ts'
import { deliveredMessage, openMessage } from '../message/open-message.ts'
import { oneWayOf } from '../one-way.ts'
import { pinnedPeersPart, signaturesPart } from '../parts.ts'
import { filedropSettings } from '../settings.ts'
import { earliestKeySetTime, pinnedKeySetOf, repinPeer } from './peer-keys.ts'

/** The carrier opens an announced epoch before it passes the message on, so an epoch needs no action here. */
const keysMessage = z.union([keysData, z.strictObject({ epoch: jws })])

const keySetTaken = z
  .strictObject({
    peer: z.string(),
    version: z.int().min(0).meta({ description: 'Version of the pinned key set; 0: none' }),
    taken: z.int().min(0).meta({ description: 'Number of new versions' }),
  })
  .meta({ id: 'KeySetTaken' })

export const take = operation({
  summary: 'Accept a peer’s new key set',
  method: 'POST',
  path: '/api/v2/site/keyset',
  input: deliveredMessage,
  output: keySetTaken,
  errors: ['not_found', 'signature_invalid', 'label_denied', 'already_exists'],
  allow: 'federation:deliver',
  max_body_bytes: 6 * 1_048_576,

  async run(call, message) {
    const opened = await openMessage(call, message, {
      kind: 'keys',
      schema: keys_schema,
      data: keysMessage,
      description: 'keys',
    })
    if (isRefusal(opened)) return opened
    const { statement, data } = opened
    const chain = 'epoch' in data ? [] : [...(data.before ?? []), data.keyset]
    return await takeChain(call, statement.src, chain)
  },
})

async function takeChain(
  call: Call,
  src: string,
  chain: readonly Jws[],
): Promise<z.infer<typeof keySetTaken> | Refusal> {
  const { trusted_clock } = call.settings(filedropSettings)
  let forked: Refusal | undefined
  let versions = 0
  const changed = await call.part(pinnedPeersPart).change(src, async (peer) => {
    const earliest = trusted_clock ? earliestKeySetTime(peer, call.now()) : undefined
    const succession = await followKeySets(pinnedKeySetOf(peer), chain, {
      signatures: call.part(signaturesPart),
      earliest,
    })
    if ('refusal' in succession) {
      if (succession.forked) forked = succession.refusal
      return succession.refusal
    }
    versions = succession.sets.length
    const next = repinPeer(peer, succession)
    if (isRefusal(next) || next === peer) return next
    // Audited before it takes effect: after a crash between the two it is audited again.
    const { threshold, root_threshold, key_set, keys } = next
    const detail = { ...key_set, threshold, root_threshold, keys: keys.map(({ kid, status }) => ({ kid, status })) }
    await call.record([call.audited('site.peer.repin', src, detail)])
    return next
  })
  if (forked) await freezeChannel(call, src, forked)
  // The peer was unpinned after the message was verified.
  if (!changed) return refuse('signature_invalid', 'the message carries no valid signature of a pinned key')
  return isRefusal(changed) ? changed : { peer: src, version: changed.key_set?.version ?? 0, taken: versions }
}

/** Two histories of key sets exist from here on: no message is accepted until a person has unfrozen the channel. */
async function freezeChannel(call: Call, src: string, { message }: Refusal): Promise<void> {
  const event = { ...call.audited('site.keyset.forked', src, { detail: message }), outcome: 'refused' as const }
  await oneWayOf(call).freeze(src, `its root keys signed two histories: ${message}`, [event])
  call.log.error('site.keyset.forked', { peer: src, detail: message })
}
