// What intake is given by boot: secrets of the site's files, and sources that are polled.
import { part } from '../../../kernel/call.ts'
import type { Refused } from '../../../kernel/errors.ts'
import type { PolledSource } from '../../../kernel/polled.ts'
import type { Schedule } from './poll/schedule.ts'
import type { Tally } from './source/tally.ts'
import type { Windows } from './webhook/windows.ts'
import type { Seen } from './within/seen.ts'

/** Reads secrets, each at every use, so that one may be changed without a restart. */
export type Secrets = {
  /** Refuses `unavailable` for a file that cannot be read, that others may read, or that holds nothing of use. */
  read(files: readonly string[]): Promise<readonly string[] | Refused>
}
export const secretsPart = part<Secrets>('intake-secrets')

/** Of polled sources, by their names in the profile. */
export type Polls = {
  readonly sources: ReadonlyMap<string, PolledSource>
  /** The next time of a cron expression, in epoch milliseconds. */
  nextOf(cron: string): number
}
export const pollsPart = part<Polls>('intake-polls')

/** What is held in memory alone, for as long as the role runs. */
export const windowsPart = part<Windows>('intake-windows')
export const tallyPart = part<Tally>('intake-tally')
export const seenPart = part<Seen>('intake-seen')
export const schedulePart = part<Schedule>('intake-schedule')
