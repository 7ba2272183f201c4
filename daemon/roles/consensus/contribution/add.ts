// The one path by which any contribution, local or federated, enters a session.
import type { Call } from '../../../kernel/call.ts'
import { isRefused, type Refused } from '../../../kernel/errors.ts'
import type { Doc, Step } from '../../../kernel/store.ts'
import { combinerSeconds } from '../metrics.ts'
import { lifecycleEvent } from '../session/lifecycle-event.ts'
import { type StoredSession, sessions } from '../session/model.ts'
import { accept, contributionDigest, type Given, isRepeat } from '../session/rules.ts'
import { isPageStored, keep, standingAtHand, standingOf, storePage } from '../session/standings.ts'
import { tell } from '../session/tell.ts'
import { settings } from '../settings.ts'
import { page_size } from './model.ts'

type Answer = 'entered' | 'added' | 'repeated' | 'standing is not at hand' | Refused

/** Adds a contribution to the session `id`, durably; a repeat changes nothing. The session as it is afterwards. */
export async function addContribution(
  call: Call,
  id: string,
  given: Given,
  check?: (session: StoredSession) => Refused | undefined,
): Promise<Doc<StoredSession> | Refused> {
  for (;;) {
    const { doc, answer } = await call.store(sessions).update(id, (current) => {
      const refused = check?.(current.value)
      return refused ? { answer: refused } : step(call, current, given)
    })
    if (answer === 'standing is not at hand') {
      await standingOf(call, doc)
      continue
    }
    if (isRefused(answer)) return answer
    if (answer !== 'repeated') await afterwards(call, doc, answer === 'entered')
    return doc
  }
}

function step(call: Call, current: Doc<StoredSession>, offered: Given): Step<StoredSession, Answer> {
  const standing = standingAtHand(call, current)
  if (!standing) return { answer: 'standing is not at hand' }
  const session = current.value
  // At a peer's session this site has one voice, whoever of its people speaks.
  const given = session.origin ? { ...offered, contributor_id: session.tenant_id } : offered
  const digest = contributionDigest(given)
  const repeat = isRepeat(standing, given, digest)
  if (repeat) return { answer: repeat === true ? 'repeated' : repeat }

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
    ordinal: contribution.ordinal,
    digest,
    from: session.state,
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
