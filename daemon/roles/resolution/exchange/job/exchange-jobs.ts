// The jobs that an exchange runs outside the service's thread: they take long with many records, or with input that a
// peer crafted.

import type { Refusal } from '../../../../kernel/error/errors.ts'
import { part } from '../../../../kernel/role/part.ts'
import type { NodeRecords } from '../../fusion-run/node-data.ts'
import type { Lens } from '../../lens/model.ts'
import type { ClkLinkOptions } from '../../privacy/clk/link.ts'
import type { ClkParameters } from '../../privacy/clk/parameters.ts'
import type { ExchangeAgreement } from '../agreement/agreement.ts'

/** The stored records of a site, and the lens and fields that read them. */
export type LensRecordPieces = {
  readonly lens: Lens
  readonly fields: readonly string[]
  readonly pieces: readonly string[]
}

/** Items in ascending order of their bytes, and the former position of each. */
export type SortedItems = { readonly sorted: Uint8Array; readonly order: Int32Array }

export type OwnRecordTerms = Pick<ExchangeAgreement, 'fields' | 'privacy' | 'max_set_size' | 'max_set_bytes'>

export type OwnRecordSet = {
  readonly pieces: readonly string[]
  readonly records: number
  /** The size that the other sites receive: records, or distinct keys. */
  readonly size: number
}

/** Positions of equal items in two sets, in the order in which the sets were sent. */
export type SharedItemPositions = { readonly left: Int32Array; readonly right: Int32Array }

/** The result that a party received, not yet checked. */
export type ReceivedMatches =
  | {
      readonly by: 'keys'
      readonly other: string
      /** Positions of shared keys, in the set of this site and in the set of the peer. */
      readonly positions: { readonly own: Int32Array; readonly peer: Int32Array }
    }
  | {
      readonly by: 'vectors'
      readonly linker: string
      readonly pairs: Uint8Array
      /** Whether this site is the first party, whose positions come first in each pair. */
      readonly isFirst: boolean
      readonly size_of_other: number
      readonly parameters: ClkParameters
    }

export type ExchangeFindingCounts = { readonly matches: number; readonly clusters: number; readonly clustered: number }

/** Input and result of each job. */
export type ExchangeJobs = {
  /** Reads the records of this site but the withdrawn ones, reduced to the agreed fields. */
  read_own: [
    { tenant_id: string; data: NodeRecords; lens: Lens; terms: OwnRecordTerms; withdrawn: readonly string[] },
    OwnRecordSet,
  ]
  keys: [LensRecordPieces, readonly string[]]
  sort: [{ items: Uint8Array; width: number }, SortedItems]
  vectors: [LensRecordPieces & { key: Uint8Array; parameters: ClkParameters }, SortedItems]
  /** Refuses points that no honest site sends. */
  check: [{ points: Uint8Array; own: Uint8Array; count: number; from: string }, 'sound']
  intersect: [{ left: Uint8Array; right: Uint8Array; width: number }, SharedItemPositions]
  link: [
    { left: Uint8Array; right: Uint8Array; linking: ClkLinkOptions },
    { pairs: Uint8Array; blocks_left_out: number },
  ]
  /** Writes matches and clusters into the folder of the run. */
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
  /** Writes the records of both sites into the folder of the run as its input, in the order of its nodes. */
  write_run_input: [
    Omit<LensRecordPieces, 'pieces'> & { sets: { site: string; size: number; pieces: readonly string[] }[] },
    'kept',
  ]
}
export type ExchangeJobName = keyof ExchangeJobs

export type ExchangeWork = {
  /**
   * Runs a job within the limits of a run. Refuses data that the job cannot use. Throws
   * `Refusal('too_large')` at the limits, and the reason of the signal.
   */
  perform<D extends ExchangeJobName>(
    exchange_id: string,
    job: D,
    input: ExchangeJobs[D][0],
    signal: AbortSignal,
  ): Promise<ExchangeJobs[D][1] | Refusal>
}
export const exchangeWork = part<ExchangeWork>('exchange-work')
