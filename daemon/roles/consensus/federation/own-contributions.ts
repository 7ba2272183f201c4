// The contributions that this site sent to a session of a peer, to compare with what the peer quotes.
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import type { Opinion } from '../combine/opinion.ts'
import type { Contribution } from '../session/contribution/model.ts'
import { readContributions } from '../session/contribution/read-contributions.ts'
import type { StoredSession } from '../session/model.ts'

/** Superseded ones included: a result may have been decided before the newest arrived. */
export async function listOwnContributions(call: Call, copy: Doc<StoredSession>): Promise<Contribution[]> {
  const record = await readContributions(call, copy, 0, copy.value.contributions)
  return record.filter(({ contributor_id }) => contributor_id === copy.value.tenant_id)
}

export function isQuotedAsSent(
  sent: Opinion,
  quoted: Pick<Opinion, 'pair_score' | 'accuracy' | 'credibility'>,
): boolean {
  return (
    sent.pair_score === quoted.pair_score &&
    sent.accuracy === quoted.accuracy &&
    sent.credibility === quoted.credibility
  )
}
