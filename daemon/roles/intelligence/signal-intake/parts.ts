// What intake is given by boot: secrets of the site's files, and sources that are polled.

import type { Refusal } from '../../../kernel/error/errors.ts'
import { part } from '../../../kernel/role/part.ts'
import type { PolledSource } from '../../../shared/polled-source/polled-source.ts'
import type { PollSchedule } from '../signal-source/poll-schedule.ts'
import type { SourceTally } from '../signal-source/source-tally.ts'
import type { RateWindows } from './rate-windows.ts'
import type { SeenCauses } from './site-cause/seen-causes.ts'

/** Reads secrets, each at every use, so that one may be changed without a restart. */
export type IntakeSecrets = {
  /** Refuses `unavailable` for a file that cannot be read, that others may read, or that holds nothing of use. */
  read(files: readonly string[]): Promise<readonly string[] | Refusal>
}
export const secretsPart = part<IntakeSecrets>('intake-secrets')

/** Of polled sources, by their names in the profile. */
export type PolledSources = {
  readonly sources: ReadonlyMap<string, PolledSource>
  /** The next time of a cron expression, in epoch milliseconds. */
  nextRun(cron: string): number
}
export const polledSourcesPart = part<PolledSources>('intake-polls')

/** What is held in memory alone, for as long as the role runs. */
export const rateWindowsPart = part<RateWindows>('intake-windows')
export const sourceTallyPart = part<SourceTally>('intake-tally')
export const seenCausesPart = part<SeenCauses>('intake-seen')
export const pollSchedulePart = part<PollSchedule>('intake-schedule')
