// Takes a peer's new key set: once it follows the pinned one, its keys are the peer's.
import * as z from 'zod'
import type { Call } from '../../../kernel/call.ts'
import { sha384 } from '../../../kernel/canonical.ts'
import { isRefused, type Refused, refuse } from '../../../kernel/errors.ts'
import { keysData } from '../../../kernel/key-set.ts'
import { follow } from '../../../kernel/key-succession.ts'
import { type Jws, jws } from '../../../kernel/keys.ts'
import { keys_schema } from '../../../kernel/one-way.ts'
import { operation } from '../../../kernel/operation.ts'
import { inOneLine, parseBy } from '../../../kernel/parsing.ts'
import { earliestFor, pinnedOf, repinned } from '../../../kernel/peer-keys.ts'
import { unlabelledStatementIn } from '../../../kernel/statement-format.ts'
import { unlabelledBody } from '../../../kernel/transport.ts'
import { verify } from '../message/verify.ts'
import { oneWayOf } from '../one-way.ts'
import { pinnedPeersPart, signaturesPart } from '../parts.ts'
import { filedropSettings } from '../settings.ts'

/** An epoch is opened by the carrier, before it hands the announcement on: nothing is left to do. */
const told = z.union([keysData, z.strictObject({ epoch: jws })])
type Told = z.infer<typeof told>

export const taken = z
  .strictObject({
    peer: z.string(),
    version: z.int().min(0).meta({ description: 'Of the key set that is pinned now; 0: none' }),
    taken: z.int().min(0).meta({ description: 'Versions that were new' }),
  })
  .meta({ id: 'KeySetTaken' })

export const take = operation({
  summary: 'Take a peer’s new key set',
  method: 'POST',
  path: '/api/v2/site/keyset',
  input: z.strictObject({
    envelope: jws.meta({ description: 'JWS (general JSON serialisation) over the statement' }),
    body: z.base64url().max(6_000_000).meta({ description: 'base64url of the exact bytes of the body' }),
  }),
  output: taken,
  errors: ['signature_invalid', 'label_denied', 'invalid', 'already_exists', 'unavailable'],
  allow: 'federation:deliver',
  max_body_bytes: 6 * 1_048_576,

  async run(call, { envelope, body }) {
    const opened = await openedBy(call, envelope, Buffer.from(body, 'base64url'))
    if (isRefused(opened)) return opened
    const { src, said } = opened
    const chain = 'epoch' in said ? [] : [...(said.before ?? []), said.keyset]
    return await takeChain(call, src, chain)
  },
})

async function takeChain(call: Call, src: string, chain: readonly Jws[]): Promise<z.infer<typeof taken> | Refused> {
  const { trusted_clock } = call.settings(filedropSettings)
  let forked: Refused | undefined
  let versions = 0
  const changed = await call.part(pinnedPeersPart).change(src, async (peer) => {
    const earliest = trusted_clock ? earliestFor(peer, call.now()) : undefined
    const found = await follow(pinnedOf(peer), chain, { signatures: call.part(signaturesPart), earliest })
    if ('refused' in found) {
      if (found.forked) forked = found.refused
      return found.refused
    }
    versions = found.sets.length
    const next = repinned(peer, found)
    if (isRefused(next) || next === peer) return next
    // Told before it counts: a crash between the two tells it once more.
    const { threshold, root_threshold, key_set, keys } = next
    const detail = { ...key_set, threshold, root_threshold, keys: keys.map(({ kid, status }) => ({ kid, status })) }
    await call.record([call.audited('site.peer.repin', src, detail)])
    return next
  })
  if (forked) await freeze(call, src, forked)
  // Unpinned since it was verified.
  if (!changed) return refuse('signature_invalid', 'the message carries no valid signature of a pinned key')
  return isRefused(changed) ? changed : { peer: src, version: changed.key_set?.version ?? 0, taken: versions }
}

/** The history of the site splits here: nothing of it is taken any more until a person has looked. */
async function freeze(call: Call, src: string, { message }: Refused): Promise<void> {
  const event = { ...call.audited('site.keyset.forked', src, { detail: message }), outcome: 'refused' as const }
  await oneWayOf(call).freeze(src, `its root keys signed two histories: ${message}`, [event])
  call.log.error('site.keyset.forked', { peer: src, detail: message })
}

/** What was signed, once sender, signature, label and digest hold. Nothing is read from a body before that. */
async function openedBy(
  call: Call,
  envelope: Jws,
  bytes: Buffer,
): Promise<{ readonly src: string; readonly said: Told } | Refused> {
  const claimed = unlabelledStatementIn(Buffer.from(envelope.payload, 'base64url'))
  if (!claimed) return refuse('signature_invalid', 'the message carries no readable signed statement')
  const verified = await verify.run(call, { peer: claimed.src, type: 'statement', envelope })
  if (isRefused(verified)) return verified
  const { kind, body } = claimed
  const isWhole = kind === 'keys' && body.length === bytes.length && body.sha384 === sha384(bytes)
  const read = isWhole ? unlabelledBody.safeParse(jsonIn(bytes)).data : undefined
  if (!read) return refuse('signature_invalid', 'the body is not the one that was signed for')
  if (body.schema !== keys_schema || read.schema !== keys_schema)
    return refuse('invalid', 'this is no message about keys')
  const said = parseBy(told, read.data)
  return said.success ? { src: claimed.src, said: said.data } : refuse('invalid', inOneLine(said.errors))
}

function jsonIn(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return undefined
  }
}
