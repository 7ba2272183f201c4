// Verifies a peer's message: signature by its pinned keys, and all that its statement must hold before anything is done.
import type { Call } from '../../../kernel/call.ts'
import { isRefused, type Refused, refuse } from '../../../kernel/errors.ts'
import type { Jws, SignatureType, Verified } from '../../../kernel/keys.ts'
import { operation } from '../../../kernel/operation.ts'
import { type Statement, statement } from '../../../kernel/transport.ts'
import { peersPart, recentlyVerifiedPart, signaturesPart } from '../parts.ts'
import { filedropSettings } from '../settings.ts'
import { verification, verifiedMessage } from './model.ts'
import { isInTime, objection } from './rules.ts'

export const verify = operation({
  summary: 'Verify a signed message of a peer',
  method: 'POST',
  path: '/api/v2/site/message/verify',
  input: verification,
  output: verifiedMessage,
  errors: ['signature_invalid', 'label_denied'],
  allow: 'message:verify',
  max_body_bytes: 1_048_576,

  async run(call, { peer, type, envelope }) {
    const found =
      call.part(recentlyVerifiedPart).find(peer, type, envelope) ?? (await judged(call, peer, type, envelope))
    if (isRefused(found)) return found
    return { payload: Buffer.from(found.payload).toString('base64url'), keys: [...found.keys] }
  },
})

/** As a carrier judges it, for a message that came by no carrier. */
async function judged(call: Call, name: string, type: SignatureType, envelope: Jws): Promise<Verified | Refused> {
  const pinned = await call.part(peersPart).get(name)
  const keys = pinned?.keys.filter((key) => key.use === 'message') ?? []
  const found = await call.part(signaturesPart).verify(type, envelope, keys)
  if (!pinned || typeof found === 'string' || found.keys.length < pinned.threshold) {
    return refuse('signature_invalid', 'the message carries no valid signature of a pinned key')
  }
  if (type !== 'statement') return found
  const said = statementIn(found.payload)
  if (!said) return refuse('signature_invalid', 'what was signed is no statement')
  if (!isInTime(said, found.keys)) return refuse('signature_invalid', 'a key signed the message after its own end')
  const { skew_s, trusted_clock, releasable_names } = call.settings(filedropSettings)
  const { name: site, tenant_id, labels } = call.site
  const here = {
    site,
    names: [tenant_id, ...releasable_names],
    labels,
    now: trusted_clock ? call.now() : undefined,
    skew_s,
  }
  return objection(said, pinned, here) ?? found
}

function statementIn(payload: Uint8Array): Statement | undefined {
  try {
    return statement.safeParse(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload))).data
  } catch {
    return undefined
  }
}
