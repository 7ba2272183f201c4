// What a release is judged by: the item as it lies there now, the people as they are enrolled now, the time.
import type { Call } from '../../../kernel/call.ts'
import { isRefused, type Refused, refuse } from '../../../kernel/errors.ts'
import type { Jws } from '../../../kernel/keys.ts'
import type { Release } from '../../../kernel/release.ts'
import { peersPart, peoplePart, quarantinesPart, signaturesPart } from '../parts.ts'
import { filedropSettings } from '../settings.ts'
import { type Held, type Here, keysOf, objection, type Signer, signerOf } from './rules.ts'

const day_ms = 86_400_000

/** Undefined when there is no such item. */
export async function heldAt(call: Call, peer: string, id: string): Promise<Held | undefined> {
  const found = await call.part(quarantinesPart).get(peer, id)
  if (!found) return undefined
  const of = (part: string) => found.files.find(({ name }) => name.endsWith(`.${part}.json`))?.sha384
  const [body, envelope] = [of('body'), of('env')]
  return {
    item: found.id,
    reason: found.reason,
    digests: body && envelope ? [body, envelope] : [],
    sender_tenant_id: (await call.part(peersPart).get(peer))?.tenant_id,
  }
}

/** Who signed it, when everything about it holds. Refuses `signature_invalid`, `conflict` and `invalid`. */
export async function judged(call: Call, said: Release, signature: Jws, held: Held): Promise<Signer | Refused> {
  const people = await call.part(peoplePart).list()
  const found = await call.part(signaturesPart).verify('release', signature, keysOf(people))
  const signer = signerOf(said, found, people)
  if (isRefused(signer)) return signer
  return objection(said, held, hereOf(call)) ?? signer
}

/** How long a request may wait, from the moment it was signed. */
export function endOf(call: Call, { created }: Release): number {
  return Date.parse(created) + hereOf(call).ends_after_ms
}

function hereOf(call: Call): Here {
  const { skew_s, release_days } = call.settings(filedropSettings)
  const { name: site, labels } = call.site
  return { site, labels, now: call.now(), skew_ms: skew_s * 1_000, ends_after_ms: release_days * day_ms }
}

export function noSuchItem(): Refused {
  return refuse('not_found', 'there is no such item in quarantine')
}

export function unreadable(): Refused {
  return refuse('signature_invalid', 'what was signed is not this step of a release')
}
