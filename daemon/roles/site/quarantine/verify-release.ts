// Verifies a release or dismissal against the item, the enrolled people and the current time.

import type { Jws } from '../../../kernel/cryptography/signatures.ts'
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { PersonalDecision } from '../../../kernel/messaging/release.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { peersPart, peoplePart, type QuarantineFiles, quarantinesPart, signaturesPart } from '../parts.ts'
import { filedropSettings } from '../settings.ts'
import {
  checkDecision,
  identifySigner,
  keysOf,
  type ReleaseContext,
  type ReleaseSigner,
  type ReleaseTarget,
} from './rules.ts'

const day_ms = 86_400_000

/** Loads the item to decide about; undefined when it does not exist. */
export async function loadReleaseTarget(call: Call, peer: string, id: string): Promise<ReleaseTarget | undefined> {
  const item = await call.part(quarantinesPart).get(peer, id)
  return item && releaseTargetOf(item, (await call.part(peersPart).get(peer))?.tenant_id)
}

/** `sender_tenant_id`: of the peer, as pinned. */
export function releaseTargetOf(
  { id: item, reason, files }: Pick<QuarantineFiles, 'id' | 'reason' | 'files'>,
  sender_tenant_id: string | undefined,
): ReleaseTarget {
  const digestOf = (part: string) => files.find(({ name }) => name.endsWith(`.${part}.json`))?.sha384
  const [body, envelope] = [digestOf('body'), digestOf('env')]
  return { item, reason, digests: body && envelope ? [body, envelope] : [], sender_tenant_id }
}

/** The signer of a valid release or dismissal. Refuses `signature_invalid`, `conflict` and `invalid`. */
export async function verifyRelease(
  call: Call,
  decision: PersonalDecision,
  signature: Jws,
  target: ReleaseTarget,
): Promise<ReleaseSigner | Refusal> {
  const people = await call.part(peoplePart).list()
  const result = await call.part(signaturesPart).verify('release', signature, keysOf(people))
  const signer = identifySigner(decision, result, people)
  if (isRefusal(signer)) return signer
  return checkDecision(decision, target, releaseContextOf(call)) ?? signer
}

/** Expiry of a request, counted from its signature. */
export function requestExpiry(call: Call, { created }: PersonalDecision): number {
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
  return refuse('signature_invalid', 'the signed content does not match this step')
}
