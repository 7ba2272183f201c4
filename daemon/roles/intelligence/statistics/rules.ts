// What a signal counts as when sources are judged, and how sure a share of a few can be.
import type { StoredSignal } from '../signal/model.ts'
import { isOpen } from '../signal/rules.ts'

export type Outcome = 'open' | 'resolved' | 'dismissed' | 'archived'

type Tallied = Pick<StoredSignal, 'status' | 'metadata' | 'detected_at' | 'source' | 'signal_type'>

/** Day of its detection (UTC), then what it counts as, so that a span of days is a span of an index. */
export function tallyOf({ status, metadata, detected_at, source, signal_type }: Tallied): string {
  const outcome: Outcome = isOpen(status) ? 'open' : metadata.archived ? 'archived' : (status as Outcome)
  return `${detected_at.slice(0, 10)} ${JSON.stringify([outcome, source.type, source.name ?? null, signal_type])}`
}
