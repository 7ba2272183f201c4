// Parts that boot supplies to intake: secrets of the site's files, and polled sources.

import type { Refusal } from '../../../kernel/error/errors.ts'
import { part } from '../../../kernel/role/part.ts'
import type { Schedule } from '../../../kernel/schedule/schedule.ts'
import type { PolledSource } from '../../../shared/polled-source/polled-source.ts'
import type { PollSchedule } from '../signal-source/poll-schedule.ts'
import type { SourceTally } from '../signal-source/source-tally.ts'
import type { RateWindows } from './rate-windows.ts'
import type { SeenCauses } from './site-cause/seen-causes.ts'

/** Reads secrets from their files at every use, so that a secret can be changed without a restart. */
export type IntakeSecrets = {
  /** Refuses `unavailable` for a file that cannot be read, that others may read, or that is empty. */
  read(files: readonly string[]): Promise<readonly string[] | Refusal>
}
export const secretsPart = part<IntakeSecrets>('intake-secrets')

/** Polled sources by their names in the profile. */
export type PolledSources = {
  readonly sources: ReadonlyMap<string, PolledSource>
  /** Schedules of the sources that have one instead of an interval. */
  readonly schedules: ReadonlyMap<string, Schedule>
}
export const polledSourcesPart = part<PolledSources>('intake-polls')

/** Rate windows, kept in memory while the role runs. */
export const rateWindowsPart = part<RateWindows>('intake-windows')
export const sourceTallyPart = part<SourceTally>('intake-tally')
export const seenCausesPart = part<SeenCauses>('intake-seen')
export const pollSchedulePart = part<PollSchedule>('intake-schedule')
