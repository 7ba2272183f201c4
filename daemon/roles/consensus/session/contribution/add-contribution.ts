// The one path by which any contribution, local or federated, enters a session.

import { isRefusal, type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import type { Doc, UpdateStep } from '../../../../kernel/store/store.ts'
import { settings } from '../../settings.ts'
import { announceChange } from '../announce-change.ts'
import { lifecycleEvent } from '../lifecycle-event.ts'
import { type StoredSession, sessions } from '../model.ts'
import { type DecisionTimer, timeDecisions } from '../time-decisions.ts'
import { claimContributionId, findClaim } from './contribution-claims.ts'
import { voterKey } from './contribution-index.ts'
import {
  cacheClaim,
  cacheContribution,
  cachedContributionView,
  cacheStoredPage,
  type IndexedContribution,
  isContributionPageStored,
  reloadContributionIndex,
} from './contribution-index-cache.ts'
import { storeContributionPage } from './contribution-pages.ts'
import { type Contribution, page_size } from './model.ts'
import type { ContributionProof } from './proof/model.ts'
import { digestProof, isProofWithinLimit, storeProof } from './proof/stored-proof.ts'
import { contributionDigest, type SubmittedContribution } from './recent-contribution.ts'
import { acceptContribution, detectRepeat } from './rules.ts'

/** Makes the contribution for this state of the session; `before` finds a contributor's standing contribution. */
export type ContributionFactory = (
  session: StoredSession,
  before: (contributor_id: string) => Contribution | undefined,
) => SubmittedContribution | Refusal

type ContributionStepOutcome =
  | 'repeated'
  | 'not_loaded'
  | 'proof_not_stored'
  | UnclaimedRepeat
  | AddedContribution
  | Refusal

/** A repeat of the standing contribution under a new idempotency key, which is to be claimed for this digest. */
type UnclaimedRepeat = { readonly unclaimed_digest: string }

/** An accepted contribution, with the effects to perform once the update is durable. */
type AddedContribution = IndexedContribution & { readonly has_entered: boolean }

export type AddContributionResult = { readonly doc: Doc<StoredSession>; readonly isNew: boolean }

type ContributionOptions = {
  /**
   * The contribution's id where it was derived from an idempotency key; the id then stands for this contribution alone,
   * also when it is a repeat.
   */
  readonly keyed_id?: string | undefined
  readonly proof?: ContributionProof | undefined
}

/**
 * Adds the contribution that `factory` makes to the session `id`, durably; a repeat changes nothing. The update may run
 * more than once, and `factory` with it. The proof of an acceptable contribution is stored before the contribution.
 */
export async function addContribution(
  call: Call,
  id: string,
  factory: ContributionFactory,
  { keyed_id, proof }: ContributionOptions = {},
): Promise<AddContributionResult | Refusal> {
  let claimed_digest = keyed_id === undefined ? undefined : await findClaim(call, id, keyed_id)
  let stored_proof: string | undefined
  const timer = timeDecisions(call)
  for (;;) {
    const claim = { contribution_id: keyed_id, claimed_digest, proof, stored_proof }
    const step = (current: Doc<StoredSession>) => acceptStep(call, current, factory, claim, timer)
    const { doc, answer } = await call.store(sessions).update(id, step)
    timer.observe()
    if (answer === 'not_loaded') {
      await reloadContributionIndex(call, doc)
      continue
    }
    if (answer === 'proof_not_stored' && proof) {
      stored_proof = await storeProof(call, doc, proof)
      continue
    }
    if (answer === 'repeated' || answer === 'proof_not_stored') return { doc, isNew: false }
    if (isRefusal(answer)) return answer
    if ('unclaimed_digest' in answer) {
      // The next attempt refuses if another contribution claimed the same key meanwhile.
      claimed_digest = await claimContributionId(call, doc, keyed_id ?? '', answer.unclaimed_digest)
      cacheClaim(call, id, keyed_id ?? '', claimed_digest)
      continue
    }
    await performEffects(call, doc, answer)
    return { doc, isNew: true }
  }
}

type ContributionClaim = {
  readonly contribution_id: string | undefined
  readonly claimed_digest: string | undefined
  readonly proof: ContributionProof | undefined
  /** The digest of the proof, once it is stored. */
  readonly stored_proof: string | undefined
}

/** Pure but for the timer: metrics and caches follow once the update has resolved. */
function acceptStep(
  call: Call,
  current: Doc<StoredSession>,
  factory: ContributionFactory,
  { contribution_id, claimed_digest, proof, stored_proof }: ContributionClaim,
  { decide }: DecisionTimer,
): UpdateStep<StoredSession, ContributionStepOutcome> {
  const session = current.value
  const view = cachedContributionView(call, current)
  if (!view) return { answer: 'not_loaded' }
  // At a peer's session this site has one vote, whichever of its people contributes.
  const voterFor = (contributor_id: string) => (session.origin ? session.tenant_id : contributor_id)
  const offered = factory(session, (contributor_id) => view.by_voter.get(voterKey(voterFor(contributor_id))))
  if (isRefusal(offered)) return { answer: offered }
  const voter = { ...offered, contributor_id: voterFor(offered.contributor_id) }
  const submitted = proof ? { ...voter, proof: stored_proof ?? digestProof(proof) } : voter
  const digest = contributionDigest(submitted)
  const repeat = detectRepeat(view, submitted, digest, claimed_digest)
  if (repeat === 'unchanged' && contribution_id !== undefined) return { answer: { unclaimed_digest: digest } }
  if (repeat) return { answer: isRefusal(repeat) ? repeat : 'repeated' }

  const accepted = acceptContribution(session, view, submitted, digest, {
    max_contributions: call.settings(settings).max_contributions,
    labels: call.site.labels,
    decide,
  })
  if (isRefusal(accepted)) return { answer: accepted }
  if (proof && stored_proof === undefined)
    return { answer: isProofWithinLimit(session, proof) ? 'proof_not_stored' : refuseLargeProof() }
  const { next, contribution, sorted } = accepted
  const detail = {
    contributor_id: submitted.contributor_id,
    digest,
    from: session.state,
    ordinal: contribution.ordinal,
    to: next.state,
  }
  const has_entered = next.history.length > session.history.length
  return {
    next,
    answer: { previous_chain: session.chain, contribution, sorted, has_entered },
    audit: [lifecycleEvent(call, 'consensus.session.contribute', next, detail)],
  }
}

function refuseLargeProof(): Refusal {
  return refuse('too_large', 'the signatures of the contribution do not fit into the evidence; see docs/consensus.md')
}

async function performEffects(call: Call, doc: Doc<StoredSession>, added: AddedContribution): Promise<void> {
  cacheContribution(call, doc, added)
  if (doc.value.recent.length >= page_size && !isContributionPageStored(call, doc)) {
    await storeContributionPage(call, doc)
    cacheStoredPage(call, doc)
  }
  announceChange(call, doc, added.has_entered)
}
