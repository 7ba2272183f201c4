// Compares a newly reported head of a peer's audit chain with the stored head.
import type { PeerHead } from './model.ts'

type ReportedChainHead = Pick<PeerHead, 'seq' | 'hash' | 'epoch' | 'number'>

/**
 * `rewritten`: another record at the same position. `cut_short`: a later inventory reports fewer records. An inventory
 * that arrives late is `older`, unless it contradicts.
 */
export function compareHeads(
  stored: ReportedChainHead,
  reported: ReportedChainHead,
): 'same' | 'longer' | 'older' | 'rewritten' | 'cut_short' {
  if (reported.seq === stored.seq) return reported.hash === stored.hash ? 'same' : 'rewritten'
  const isLater = reported.epoch > stored.epoch || (reported.epoch === stored.epoch && reported.number > stored.number)
  if (isLater) return reported.seq > stored.seq ? 'longer' : 'cut_short'
  return reported.seq < stored.seq ? 'older' : 'cut_short'
}
