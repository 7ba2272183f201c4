// The contract of the folders of a landing zone: files that carriers bring, in the custody of the service until their end.
import * as z from 'zod'
import { part } from '../../../kernel/role/part.ts'
import { count, instant } from '../fields.ts'
import { type CarriedFault, carriedFault, type TakenFile, type WaitingFile } from './model.ts'

/** Whose folders: the uid of a pipeline. */
export type ZonePlace = { readonly tenant_id: string; readonly pipeline: string }

/** `number`: of the zone, which names the file while the service has it. */
export type NumberedFile = WaitingFile & { readonly number: number }

/** The receipt of a file, for those who carried it. */
export const carriedReceipt = z.strictObject({
  format: z.literal('platform.landing-receipt/1'),
  file: z.string(),
  outcome: z.enum(['landed', 'quarantined']),
  /** Absent for a file that was not read. */
  bytes: count.optional(),
  sha256: z.string().length(64).optional(),
  fault: carriedFault.optional(),
  dag_id: z.string(),
  /** Absent where no run began. */
  dag_run_id: z.string().optional(),
  rows: count.optional(),
  rejects: count.optional(),
  ended_at: instant,
})
export type CarriedReceipt = z.infer<typeof carriedReceipt>

export type LandingZoneFiles = {
  /** Where carriers put files, below the folder of all zones. */
  describe(place: ZonePlace): string
  /** Makes the folders that are missing. Throws `Refusal('unavailable')` where they cannot be used, as the others do. */
  open(place: ZonePlace): Promise<void>
  /** The whole file that waits longest. Reads nothing of it. */
  findWaiting(place: ZonePlace): Promise<WaitingFile | undefined>
  /**
   * Copies the file into custody, durably, and removes the one that waited. Repeatable: a copy that is there counts. `gone`: it has
   * been taken back, changed or replaced.
   */
  take(place: ZonePlace, file: NumberedFile, signal: AbortSignal): Promise<TakenFile | CarriedFault | 'gone'>
  /** By the scanner of the profile; undefined where it is clean. */
  scan(place: ZonePlace, file: NumberedFile): Promise<CarriedFault | undefined>
  /** The receipt of a file of this name and content that has landed. */
  findLanded(place: ZonePlace, name: string, sha256: string): Promise<CarriedReceipt | undefined>
  /** Puts the file where its outcome belongs, and writes its receipt. Repeatable. */
  finish(place: ZonePlace, file: NumberedFile, receipt: CarriedReceipt): Promise<void>
  /** Removes the copy of a file that has landed before. */
  discard(place: ZonePlace, file: NumberedFile): Promise<void>
  /** Moves the files that wait, and those in custody, to quarantine: the next pipeline of the name may have a lower label. */
  abandon(place: ZonePlace): Promise<void>
  /** Removes files that have landed, and receipts, that are older than the profile keeps them. */
  purge(place: ZonePlace): Promise<number>
}

export const landingZoneFilesPart = part<LandingZoneFiles>('landing-zone-files')
