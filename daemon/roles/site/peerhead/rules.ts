// What a newly told head of a peer's audit chain says beside the one that was told before.
import type { PeerHead } from './model.ts'

type ReportedChainHead = Pick<PeerHead, 'seq' | 'hash' | 'epoch' | 'number'>

/**
 * `rewriteBody`: another record at the same place. `cut_short`: a later inventory tells of fewer records. An inventory that
 * was overtaken tells nothing new, unless it contradicts.
 */
export function compareHeads(
  known: ReportedChainHead,
  told: ReportedChainHead,
): 'same' | 'longer' | 'older' | 'rewritten' | 'cut_short' {
  if (told.seq === known.seq) return told.hash === known.hash ? 'same' : 'rewritten'
  const isLater = told.epoch > known.epoch || (told.epoch === known.epoch && told.number > known.number)
  if (isLater) return told.seq > known.seq ? 'longer' : 'cut_short'
  return told.seq < known.seq ? 'older' : 'cut_short'
}
