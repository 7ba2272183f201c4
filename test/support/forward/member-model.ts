// A model of the rules of a pool: the state of a member, by the evidence counted from its end, and the members for a request.
import type { EjectionLimits, MemberState } from '../../../daemon/kernel/forward/member-health.ts'

export type MemberEvidence = { readonly from: 'request' | 'probe'; readonly isOk: boolean; readonly at: number }

export function modelMemberState(
  evidence: readonly MemberEvidence[],
  now: number,
  { failures, ejection_ms, max_ejection_ms }: EjectionLimits,
): MemberState {
  const probes = evidence.filter(({ from }) => from === 'probe')
  const failed_probes = probes.length - 1 - probes.findLastIndex(({ isOk }) => isOk)
  if (failed_probes >= failures) return 'down'
  // A good answer of either kind forgets what came before.
  const recent = evidence.slice(evidence.findLastIndex(({ isOk }) => isOk) + 1)
  const failed = recent.filter(({ from }) => from === 'request')
  // Failures within an ejection count, and do not prolong it.
  let ends_at = Number.NEGATIVE_INFINITY
  let length_ms = ejection_ms
  for (const { at } of failed.slice(failures - 1)) {
    if (at < ends_at) continue
    ends_at = at + Math.min(length_ms, max_ejection_ms)
    length_ms *= 2
  }
  if (now < ends_at) return 'ejected'
  return ends_at > Number.NEGATIVE_INFINITY ? 'recovering' : 'up'
}

/** Those that the pool may choose: of the best kind that there is, with the fewest requests under way. */
export function modelCandidates<Member>(
  untried: readonly Member[],
  { state, load }: { state(member: Member): MemberState; load(member: Member): number },
): Member[] {
  const usable = untried.filter((member) => state(member) !== 'down')
  const isReady = (member: Member) => state(member) === 'up' || (state(member) === 'recovering' && load(member) === 0)
  const ready = usable.filter(isReady)
  const best = ready.length > 0 ? ready : usable
  const least = Math.min(...best.map(load))
  return best.filter((member) => load(member) === least)
}
