// Compares a newly reported head of a peer's audit chain with the stored head.
import type { PeerHead } from './model.ts'

type ReportedChainHead = Pick<PeerHead, 'seq' | 'hash' | 'epoch' | 'number'>

/**
 * `rewritten`: another record at the same position. `cut_short`: a later inventory reports fewer records. An inventory
 * that arrives late is `older`, unless it contradicts.
 */
export function compareHeads(
  known: ReportedChainHead,
  reported: ReportedChainHead,
): 'same' | 'longer' | 'older' | 'rewritten' | 'cut_short' {
  if (reported.seq === known.seq) return reported.hash === known.hash ? 'same' : 'rewritten'
  const isLater = reported.epoch > known.epoch || (reported.epoch === known.epoch && reported.number > known.number)
  if (isLater) return reported.seq > known.seq ? 'longer' : 'cut_short'
  return reported.seq < known.seq ? 'older' : 'cut_short'
}
