// What an exchange has done beside the service, since it takes long with many records or with what a peer thought up.

import type { Refusal } from '../../../../kernel/error/errors.ts'
import { part } from '../../../../kernel/operation/call.ts'
import type { NodeRecords } from '../../fusion-run/node-data.ts'
import type { Lens } from '../../lens/model.ts'
import type { ClkLinkOptions } from '../../privacy/clk/link.ts'
import type { ClkParameters } from '../../privacy/clk/parameters.ts'
import type { ExchangeAgreement } from '../agreement/agreement.ts'

/** The records of a site as they are kept, and by which lens and fields they are seen. */
export type LensRecordPieces = {
  readonly lens: Lens
  readonly fields: readonly string[]
  readonly pieces: readonly string[]
}

/** Items ascending by their bytes, and of each place, where it was before. */
export type SortedItems = { readonly sorted: Uint8Array; readonly order: Int32Array }

export type OwnRecordTerms = Pick<ExchangeAgreement, 'fields' | 'privacy' | 'max_set_size' | 'max_set_bytes'>

export type OwnRecordSet = {
  readonly pieces: readonly string[]
  readonly records: number
  /** What the other sites are told: records, or distinct keys. */
  readonly size: number
}

/** Places in the sets as they travelled, of the same value. */
export type SharedItemPositions = { readonly ours: Int32Array; readonly theirs: Int32Array }

/** What a party was told, as it came. */
export type ReceivedMatches =
  | { readonly by: 'keys'; readonly other: string; readonly positions: SharedItemPositions }
  | {
      readonly by: 'vectors'
      readonly linker: string
      readonly pairs: Uint8Array
      /** This site is the first party, whose places come first. */
      readonly isFirst: boolean
      readonly size_of_other: number
      readonly parameters: ClkParameters
    }

export type ExchangeFindingCounts = { readonly matches: number; readonly clusters: number; readonly clustered: number }

/** Each with what it is given and what comes of it. */
export type ExchangeJobs = {
  /** Reads what a site brings, cut down to what was agreed. */
  read_own: [{ tenant_id: string; data: NodeRecords; lens: Lens; terms: OwnRecordTerms }, OwnRecordSet]
  keys: [LensRecordPieces, readonly string[]]
  sort: [{ items: Uint8Array; width: number }, SortedItems]
  vectors: [LensRecordPieces & { key: Uint8Array; parameters: ClkParameters }, SortedItems]
  /** Refuses points that no honest site sends. */
  check: [{ points: Uint8Array; own: Uint8Array; count: number; from: string }, 'sound']
  intersect: [{ ours: Uint8Array; theirs: Uint8Array; width: number }, SharedItemPositions]
  link: [
    { ours: Uint8Array; theirs: Uint8Array; linking: ClkLinkOptions },
    { pairs: Uint8Array; blocks_left_out: number },
  ]
  /** Leaves matches and clusters where the run's are. */
  derive_findings: [
    LensRecordPieces & {
      exchange_id: string
      self: string
      other: string
      order: Int32Array
      received: ReceivedMatches
      max_matches: number
    },
    ExchangeFindingCounts,
  ]
  /** Leaves the records of both sites where a run of this site reads them, in the order of its nodes. */
  write_run_input: [
    Omit<LensRecordPieces, 'pieces'> & { sets: { site: string; size: number; pieces: readonly string[] }[] },
    'kept',
  ]
}
export type ExchangeJobName = keyof ExchangeJobs

export type ExchangeWork = {
  /**
   * Does it within the limits of a run. Refuses what the data do not allow. Throws `Refusal('timeout')` and
   * `Refusal('too_large')` at the limits, and the signal's reason.
   */
  perform<D extends ExchangeJobName>(
    exchange_id: string,
    job: D,
    input: ExchangeJobs[D][0],
    signal: AbortSignal,
  ): Promise<ExchangeJobs[D][1] | Refusal>
}
export const exchangeWork = part<ExchangeWork>('exchange-work')
