// The one path by which any contribution, local or federated, enters a session.

import { isRefusal, type Refusal } from '../../../../kernel/error/errors.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import type { Doc, UpdateStep } from '../../../../kernel/store/store.ts'
import { combinerSeconds } from '../../metrics.ts'
import { settings } from '../../settings.ts'
import { announceChange } from '../announce-change.ts'
import { lifecycleEvent } from '../lifecycle-event.ts'
import { type StoredSession, sessions } from '../model.ts'
import { acceptContribution, detectRepeat } from '../rules.ts'
import { claimContributionId, findClaim } from './contribution-claims.ts'
import {
  cacheClaim,
  cacheContribution,
  cachedContributionIndex,
  isContributionPageStored,
  loadContributionIndex,
  storeContributionPage,
} from './contribution-index-cache.ts'
import { type Contribution, page_size } from './model.ts'
import { contributionDigest, type SubmittedContribution } from './recent-contribution.ts'

/** Makes a contribution of the session as it is; `before` tells what a contributor says there now. */
export type ContributionFactory = (
  session: StoredSession,
  before: (contributor_id: string) => Contribution | undefined,
) => SubmittedContribution | Refusal

type ContributionStepOutcome = 'entered' | 'added' | 'repeated' | 'not_loaded' | UnclaimedRepeat | Refusal

/** A repeat of what stands, whose key is to be remembered. */
type UnclaimedRepeat = { readonly unclaimed_digest: string }

export type AddContributionResult = { readonly doc: Doc<StoredSession>; readonly isNew: boolean }

/**
 * Adds what `offerProposal` makes of the session to the session `id`, durably; a repeat changes nothing. `offerProposal` is asked inside
 * the update, and may be asked again. `keyedRun`: the id of the contribution where an idempotency key made it, which then
 * stands for this contribution alone, also when it is a repeat.
 */
export async function addContribution(
  call: Call,
  id: string,
  offer: ContributionFactory,
  keyed?: string | undefined,
): Promise<AddContributionResult | Refusal> {
  let claimed = keyed === undefined ? undefined : await findClaim(call, id, keyed)
  for (;;) {
    const rule = (current: Doc<StoredSession>) =>
      acceptStep(call, current, offer, { contribution_id: keyed, claimed_digest: claimed })
    const { doc, answer } = await call.store(sessions).update(id, rule)
    if (answer === 'not_loaded') {
      await loadContributionIndex(call, doc)
      continue
    }
    if (isRefusal(answer)) return answer
    if (typeof answer === 'object') {
      // Then once more: a contribution under the same key may have come between.
      claimed = await claimContributionId(call, doc, keyed ?? '', answer.unclaimed_digest)
      continue
    }
    if (answer !== 'repeated') await storePageAndAnnounce(call, doc, answer === 'entered')
    return { doc, isNew: answer !== 'repeated' }
  }
}

type ContributionClaim = { readonly contribution_id: string | undefined; readonly claimed_digest: string | undefined }

function acceptStep(
  call: Call,
  current: Doc<StoredSession>,
  offer: ContributionFactory,
  { contribution_id, claimed_digest }: ContributionClaim,
): UpdateStep<StoredSession, ContributionStepOutcome> {
  const session = current.value
  const standing = cachedContributionIndex(call, current)
  if (!standing) return { answer: 'not_loaded' }
  // At a peer's session this site has one voice, whoever of its people speaks.
  const voice = (contributor_id: string) => (session.origin ? session.tenant_id : contributor_id)
  const offered = offer(session, (contributor_id) => standing.by_contributor.get(voice(contributor_id)))
  if (isRefusal(offered)) return { answer: offered }
  const given = session.origin ? { ...offered, contributor_id: session.tenant_id } : offered
  const digest = contributionDigest(given)
  if (contribution_id !== undefined && claimed_digest !== undefined)
    cacheClaim(call, standing, contribution_id, claimed_digest)
  const repeat = detectRepeat(standing, given, digest, claimed_digest)
  if (repeat === 'unchanged' && contribution_id !== undefined) return { answer: { unclaimed_digest: digest } }
  if (repeat) return { answer: isRefusal(repeat) ? repeat : 'repeated' }

  const began = call.monotonic()
  const accepted = acceptContribution(session, standing, given, digest, {
    max_contributions: call.settings(settings).max_contributions,
    labels: call.site.labels,
  })
  if (isRefusal(accepted)) return { answer: accepted }
  call.observe(combinerSeconds, { method: session.policy.combination_method }, (call.monotonic() - began) / 1_000)
  const { next, contribution, sorted } = accepted
  cacheContribution(call, standing, contribution, next.chain, sorted)
  const detail = {
    contributor_id: given.contributor_id,
    digest,
    from: session.state,
    ordinal: contribution.ordinal,
    to: next.state,
  }
  return {
    next,
    answer: next.history.length > session.history.length ? 'entered' : 'added',
    audit: [lifecycleEvent(call, 'consensus.session.contribute', next, detail)],
  }
}

async function storePageAndAnnounce(call: Call, doc: Doc<StoredSession>, hasEntered: boolean): Promise<void> {
  if (doc.value.recent.length >= page_size && !isContributionPageStored(call, doc))
    await storeContributionPage(call, doc)
  announceChange(call, doc, hasEntered)
}
