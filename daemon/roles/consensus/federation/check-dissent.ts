// Checks the dissent of a peer: it must follow from its positions, and state the position of this site as it was sent.
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { findDissentFaults } from '../combine/dissent-faults.ts'
import { weight } from '../combine/opinion.ts'
import { analyseBesideLoop } from '../dissent/conflict-analyser.ts'
import type { StoredSession } from '../session/model.ts'
import { timeDecisions } from '../session/time-decisions.ts'
import { listOwnContributions } from './own-contributions.ts'
import type { PeerDissent } from './session-outcome.ts'

/** `copy`: the session as this site follows it. Faults are in words, for people. */
export async function checkDissent(call: Call, copy: Doc<StoredSession>, dissent: PeerDissent): Promise<string[]> {
  const { id, policy, lens_id, tenant_id } = copy.value
  const { body } = dissent
  const isOfSession = dissent.session_id === id && dissent.lens_id === lens_id
  const own = body.positions.find(({ contributor_id }) => contributor_id === tenant_id)
  const sent = own ? await listOwnContributions(call, copy) : []
  const isAsSent = !own || sent.some((each) => each.pair_score === own.pair_score && weight(each) === own.weight)
  const timer = timeDecisions(call)
  const unfounded = await findDissentFaults(
    policy,
    body,
    (...conflict) => analyseBesideLoop(call, ...conflict),
    timer.decide,
  )
  timer.observe()
  return [
    ...(isOfSession ? [] : ['the dissent belongs to another session or lens']),
    ...unfounded,
    ...(isAsSent ? [] : [`${tenant_id}: the record of this site holds no contribution with this position`]),
  ]
}
