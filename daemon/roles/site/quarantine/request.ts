// Asks for the release of a quarantined message: the first of two people signs for it.
import * as z from 'zod'
import type { Call } from '../../../kernel/call.ts'
import { sha384 } from '../../../kernel/canonical.ts'
import { isRefused } from '../../../kernel/errors.ts'
import type { Jws } from '../../../kernel/keys.ts'
import { operation } from '../../../kernel/operation.ts'
import { type ReleaseRequest, releaseIn, releasePayload, releaseRequest } from '../../../kernel/release.ts'
import { endOf, heldAt, judged, noSuchItem, unreadable } from './judging.ts'
import { itemFields, type PendingRelease, pendingRelease, personalSignature, releaseRequests } from './model.ts'
import { isCleared } from './pending.ts'
import { notCleared, ownSignature } from './rules.ts'

export const request = operation({
  summary: 'Ask for the release of a quarantined message, by a signature of one’s own',
  method: 'POST',
  path: '/api/v2/site/quarantine/{peer}/{id}/request',
  input: z.strictObject({ ...itemFields, signature: personalSignature }),
  output: pendingRelease,
  status: 201,
  errors: ['not_found', 'signature_invalid', 'conflict'],
  allow: 'quarantine:release',

  async run(call, { peer, id, signature }) {
    const held = await heldAt(call, peer, id)
    if (!held) return noSuchItem()
    const said = releaseIn(releaseRequest, signature)
    if (!said) return unreadable()
    const signer = ownSignature(await judged(call, said, signature, held), call.caller.subject)
    if (isRefused(signer)) return signer
    if (!isCleared(call, said.label)) return notCleared()
    return await keep(call, said, signature)
  },
})

/** A repeat changes nothing; another request takes the place of the one before. */
async function keep(call: Call, said: ReleaseRequest, signature: Jws): Promise<PendingRelease> {
  const { item, waiver, label, reason, subject, created } = said
  const expires_ts = endOf(call, said)
  const ends = new Date(expires_ts).toISOString()
  const digest = sha384(releasePayload(said))
  const kept = { subject, waiver, reason, created, ends, digest, signature }
  const pending = label ? { ...kept, label } : kept
  const event = call.audited(
    'site.quarantine.request',
    item,
    { waiver, digests: said.digests, reason, signature },
    label,
  )
  const store = call.store(releaseRequests)
  const next = { tenant_id: call.site.tenant_id, ...kept, expires_ts }
  if ((await store.create(item, next, [event])) !== 'exists') return pending
  await store.update(item, ({ value }) =>
    value.digest === digest ? { answer: undefined } : { answer: undefined, next, audit: [event] },
  )
  return pending
}
