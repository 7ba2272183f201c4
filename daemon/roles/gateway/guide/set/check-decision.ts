// Checks a decision of an administrator about a held set: their own signature, over the very set that is stored.
import type * as z from 'zod'
import type { Jws } from '../../../../kernel/cryptography/signatures.ts'
import { isRefusal, type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import type { Doc } from '../../../../kernel/store/store.ts'
import { verifyGuidanceDecision } from '../../../../shared/contributor-signature/contributor-signature.ts'
import { guideSettings } from '../settings.ts'
import { checkDecision, type DecisionSigner, parseDecision, type SetDecision } from './decision.ts'
import { hasHiddenText, type LoadedArtifact, loadArtifacts } from './load-set.ts'
import type { StoredSet } from './model.ts'

const day_ms = 86_400_000

/** The person who signed. Refuses `signature_invalid`, `conflict` and `invalid`. */
export async function verifyDecision(
  call: Call,
  decision: SetDecision,
  signature: Jws,
  { id: set, value }: Doc<StoredSet>,
): Promise<DecisionSigner | Refusal> {
  const { name: site, tenant_id } = call.site
  const lifetime_ms = call.settings(guideSettings).set_hold_days * day_ms
  const target = {
    site,
    tenant_id,
    set,
    digest: value.digest,
    artifacts: value.artifact_count,
    now: call.now(),
    lifetime_ms,
  }
  const refused = checkDecision(decision, target)
  if (refused) return refused
  const signer = await verifyGuidanceDecision(call, decision.subject, decision.created, signature)
  return isRefusal(signer) ? signer : { subject: signer.subject, fingerprint: signer.fingerprint }
}

/**
 * What the caller has signed about a held set, for this step of its acceptance. Refuses `wrong_state` and `signature_invalid`, and what
 * `verifyDecision` does.
 */
export async function admitDecision<D extends SetDecision>(
  call: Call,
  set: Doc<StoredSet>,
  schema: z.ZodType<D>,
  signature: Jws,
): Promise<{ readonly decision: D; readonly signer: DecisionSigner } | Refusal> {
  if (set.value.status !== 'held') return refuse('wrong_state', `the set is ${set.value.status}`)
  const decision = parseDecision(schema, signature)
  if (!decision) return refuse('signature_invalid', 'the signed content does not match this step')
  const signer = requireOwn(await verifyDecision(call, decision, signature, set), call.caller.subject)
  return isRefusal(signer) ? signer : { decision, signer }
}

/** A person may only act under their own name. */
function requireOwn(signer: DecisionSigner | Refusal, caller_subject: string): DecisionSigner | Refusal {
  if (isRefusal(signer) || signer.subject === caller_subject) return signer
  return refuse(
    'forbidden',
    `the signature is that of ${signer.subject}, and the token that of ${caller_subject}; use the token of the person who signs`,
  )
}

/** The artifacts of the set, as the peer has signed them. Refuses chosen ones that people cannot read as a model does. */
export async function loadChosen(
  call: Call,
  set: Doc<StoredSet>,
  numbers: readonly number[],
): Promise<readonly LoadedArtifact[] | Refusal> {
  const all = await loadArtifacts(call, set)
  if (isRefusal(all)) return all
  const wanted = new Set(numbers)
  const chosen = all.filter((_, at) => wanted.has(at + 1))
  for (const each of chosen) {
    if (hasHiddenText(each))
      return refuse('invalid', `artifact ${each.doc.value.number} has characters that people do not see`)
    await call.pause()
  }
  return chosen
}
