// Carries out decisions of people: gives up missing numbers, and discards messages that wait.
import type { AuditEvent } from '../../../../../daemon/kernel/audit/audit-chain.ts'
import type { Gap } from '../../../../../daemon/kernel/messaging/journal.ts'
import type { NumberRange } from '../../../../../daemon/kernel/messaging/one-way-control.ts'
import { intersectGaps } from '../acknowledgement-receiver.ts'
import type { ScanContext } from '../scan-context.ts'
import { endWaiting, listPending } from './end-waiting.ts'

export type EpochRange = NumberRange & { readonly epoch: number }

/** By one write: some milliseconds of work. */
const max_numbers_per_write = 500
const max_gaps = 100_000

/**
 * Gives the missing numbers of the range up: what waits behind them is applied with the next scan. Resolves with their count.
 */
export async function skipNumbers(
  { epoch, first, last }: EpochRange,
  audit: readonly AuditEvent[],
  { filedrop, destination, link }: ScanContext,
): Promise<number> {
  const { journal, clock, log } = filedrop
  const { channel } = destination
  const runs = intersectGaps(await journal.gaps(channel, epoch, max_gaps), [{ first, last }])
  let skipped = 0
  for (const numbers of splitRuns(runs, epoch)) {
    skipped += await journal.skip(channel, numbers, clock.now(), skipped === 0 ? audit : [])
  }
  if (skipped > 0) log.warn('filedrop.gap.skipped', { peer: link.peer, epoch, first, last, skipped })
  return skipped
}

function* splitRuns(runs: readonly Gap[], epoch: number): Generator<{ epoch: number; seq: number }[]> {
  for (const { first, last } of runs) {
    for (let from = first; from <= last; from += max_numbers_per_write) {
      const length = Math.min(max_numbers_per_write, last - from + 1)
      yield Array.from({ length }, (_, index) => ({ epoch, seq: from + index }))
    }
  }
}

/** Moves the messages of the range that wait to quarantine. Resolves with their count. */
export async function discardWaiting(
  { epoch, first, last }: EpochRange,
  reason: string,
  audit: readonly AuditEvent[],
  context: ScanContext,
): Promise<number> {
  const chosen = listPending(context).filter(
    ({ entry }) => entry.epoch === epoch && entry.seq >= first && entry.seq <= last,
  )
  if (chosen.length === 0) return 0
  await context.filedrop.record(audit)
  const why = { reason: 'REFUSED', code: 'discarded', detail: `discarded by an operator: ${reason}` } as const
  for (const each of chosen) await endWaiting(each, why, context)
  return chosen.length
}
