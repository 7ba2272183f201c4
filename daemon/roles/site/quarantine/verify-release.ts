// Verifies a release against the item, the enrolled people and the current time.

import type { Jws } from '../../../kernel/cryptography/signatures.ts'
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Release } from '../../../kernel/messaging/release.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { peersPart, peoplePart, quarantinesPart, signaturesPart } from '../parts.ts'
import { filedropSettings } from '../settings.ts'
import {
  checkRelease,
  identifySigner,
  keysOf,
  type ReleaseContext,
  type ReleaseSigner,
  type ReleaseTarget,
} from './rules.ts'

const day_ms = 86_400_000

/** Loads the item to release; undefined when it does not exist. */
export async function loadReleaseTarget(call: Call, peer: string, id: string): Promise<ReleaseTarget | undefined> {
  const result = await call.part(quarantinesPart).get(peer, id)
  if (!result) return undefined
  const digestOf = (part: string) => result.files.find(({ name }) => name.endsWith(`.${part}.json`))?.sha384
  const [body, envelope] = [digestOf('body'), digestOf('env')]
  return {
    item: result.id,
    reason: result.reason,
    digests: body && envelope ? [body, envelope] : [],
    sender_tenant_id: (await call.part(peersPart).get(peer))?.tenant_id,
  }
}

/** The signer of a valid release. Refuses `signature_invalid`, `conflict` and `invalid`. */
export async function verifyRelease(
  call: Call,
  release: Release,
  signature: Jws,
  target: ReleaseTarget,
): Promise<ReleaseSigner | Refusal> {
  const people = await call.part(peoplePart).list()
  const result = await call.part(signaturesPart).verify('release', signature, keysOf(people))
  const signer = identifySigner(release, result, people)
  if (isRefusal(signer)) return signer
  return checkRelease(release, target, releaseContextOf(call)) ?? signer
}

/** Expiry of a request, counted from its signature. */
export function requestExpiry(call: Call, { created }: Release): number {
  return Date.parse(created) + releaseContextOf(call).request_lifetime_ms
}

function releaseContextOf(call: Call): ReleaseContext {
  const { skew_s, release_days } = call.settings(filedropSettings)
  const { name: site, labels } = call.site
  return { site, labels, now: call.now(), skew_ms: skew_s * 1_000, request_lifetime_ms: release_days * day_ms }
}

export function refuseNoSuchItem(): Refusal {
  return refuse('not_found', 'the item is not in quarantine')
}

export function refuseUnreadable(): Refusal {
  return refuse('signature_invalid', 'the signed content does not match this step of a release')
}
