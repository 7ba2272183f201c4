// The one path by which any contribution, local or federated, enters a session.
import type { Call } from '../../../kernel/call.ts'
import { isRefused, type Refused } from '../../../kernel/errors.ts'
import type { Doc, Step } from '../../../kernel/store.ts'
import { combinerSeconds } from '../metrics.ts'
import { lifecycleEvent } from '../session/lifecycle-event.ts'
import { type StoredSession, sessions } from '../session/model.ts'
import { accept, repeatOf } from '../session/rules.ts'
import { isPageStored, keep, noteClaim, standingAtHand, standingOf, storePage } from '../session/standings.ts'
import { tell } from '../session/tell.ts'
import { settings } from '../settings.ts'
import { claim, claimOf } from './claim.ts'
import { type Contribution, page_size } from './model.ts'
import { contributionDigest, type Given } from './recent.ts'

/** Makes a contribution of the session as it is; `before` tells what a contributor says there now. */
export type Offer = (
  session: StoredSession,
  before: (contributor_id: string) => Contribution | undefined,
) => Given | Refused

type Answer = 'entered' | 'added' | 'repeated' | 'standing is not at hand' | Unclaimed | Refused

/** A repeat of what stands, whose key is to be remembered. */
type Unclaimed = { readonly unclaimed: string }

export type Added = { readonly doc: Doc<StoredSession>; readonly isNew: boolean }

/**
 * Adds what `offer` makes of the session to the session `id`, durably; a repeat changes nothing. `offer` is asked inside
 * the update, and may be asked again. `keyed`: the id of the contribution where an idempotency key made it, which then
 * stands for this contribution alone, also when it is a repeat.
 */
export async function addContribution(
  call: Call,
  id: string,
  offer: Offer,
  keyed?: string | undefined,
): Promise<Added | Refused> {
  let claimed = keyed === undefined ? undefined : await claimOf(call, id, keyed)
  for (;;) {
    const rule = (current: Doc<StoredSession>) => step(call, current, offer, { keyed, claimed })
    const { doc, answer } = await call.store(sessions).update(id, rule)
    if (answer === 'standing is not at hand') {
      await standingOf(call, doc)
      continue
    }
    if (isRefused(answer)) return answer
    if (typeof answer === 'object') {
      // Then once more: a contribution under the same key may have come between.
      claimed = await claim(call, doc, keyed ?? '', answer.unclaimed)
      continue
    }
    if (answer !== 'repeated') await afterwards(call, doc, answer === 'entered')
    return { doc, isNew: answer !== 'repeated' }
  }
}

type Key = { readonly keyed: string | undefined; readonly claimed: string | undefined }

function step(
  call: Call,
  current: Doc<StoredSession>,
  offer: Offer,
  { keyed, claimed }: Key,
): Step<StoredSession, Answer> {
  const session = current.value
  const standing = standingAtHand(call, current)
  if (!standing) return { answer: 'standing is not at hand' }
  // At a peer's session this site has one voice, whoever of its people speaks.
  const voice = (contributor_id: string) => (session.origin ? session.tenant_id : contributor_id)
  const offered = offer(session, (contributor_id) => standing.by_contributor.get(voice(contributor_id)))
  if (isRefused(offered)) return { answer: offered }
  const given = session.origin ? { ...offered, contributor_id: session.tenant_id } : offered
  const digest = contributionDigest(given)
  if (keyed !== undefined && claimed !== undefined) noteClaim(call, standing, keyed, claimed)
  const repeat = repeatOf(standing, given, digest, claimed)
  if (repeat === 'stands' && keyed !== undefined) return { answer: { unclaimed: digest } }
  if (repeat) return { answer: isRefused(repeat) ? repeat : 'repeated' }

  const began = call.monotonic()
  const accepted = accept(session, standing, given, digest, {
    max_contributions: call.settings(settings).max_contributions,
    labels: call.site.labels,
  })
  if (isRefused(accepted)) return { answer: accepted }
  call.observe(combinerSeconds, { method: session.policy.combination_method }, (call.monotonic() - began) / 1_000)
  const { next, contribution, sorted } = accepted
  keep(call, standing, contribution, next.chain, sorted)
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

async function afterwards(call: Call, doc: Doc<StoredSession>, hasEntered: boolean): Promise<void> {
  if (doc.value.recent.length >= page_size && !isPageStored(call, doc)) await storePage(call, doc)
  tell(call, doc, hasEntered)
}
