// What an exchange has done beside the service, since it takes long with many records or with what a peer thought up.
import { part } from '../../../kernel/call.ts'
import type { Refused } from '../../../kernel/errors.ts'
import type { NodeRecords } from '../fusion-run/node-data.ts'
import type { Lens } from '../lens/model.ts'
import type { Linking } from '../privacy/clk/link.ts'
import type { ClkParameters } from '../privacy/clk/parameters.ts'
import type { Agreement } from './agreement.ts'

/** The records of a site as they are kept, and by which lens and fields they are seen. */
export type Seen = { readonly lens: Lens; readonly fields: readonly string[]; readonly pieces: readonly string[] }

/** Items ascending by their bytes, and of each place, where it was before. */
export type Sorted = { readonly sorted: Uint8Array; readonly order: Int32Array }

export type OwnTerms = Pick<Agreement, 'fields' | 'privacy' | 'max_set_size' | 'max_set_bytes'>

export type OwnData = {
  readonly pieces: readonly string[]
  readonly records: number
  /** What the other sites are told: records, or distinct keys. */
  readonly size: number
}

/** Places in the sets as they travelled, of the same value. */
export type Met = { readonly ours: Int32Array; readonly theirs: Int32Array }

/** What a party was told, as it came. */
export type Told =
  | { readonly by: 'keys'; readonly other: string; readonly met: Met }
  | {
      readonly by: 'vectors'
      readonly linker: string
      readonly pairs: Uint8Array
      /** This site is the first party, whose places come first. */
      readonly isFirst: boolean
      readonly size_of_other: number
      readonly parameters: ClkParameters
    }

export type Learnt = { readonly matches: number; readonly clusters: number; readonly clustered: number }

/** Each with what it is given and what comes of it. */
export type Deeds = {
  /** Reads what a site brings, cut down to what was agreed. */
  own: [{ tenant_id: string; data: NodeRecords; lens: Lens; terms: OwnTerms }, OwnData]
  keys: [Seen, readonly string[]]
  sort: [{ items: Uint8Array; width: number }, Sorted]
  vectors: [Seen & { key: Uint8Array; parameters: ClkParameters }, Sorted]
  /** Refuses points that no honest site sends. */
  check: [{ points: Uint8Array; own: Uint8Array; count: number; from: string }, 'sound']
  meet: [{ ours: Uint8Array; theirs: Uint8Array; width: number }, Met]
  link: [{ ours: Uint8Array; theirs: Uint8Array; linking: Linking }, { pairs: Uint8Array; blocks_left_out: number }]
  /** Leaves matches and clusters where the run's are. */
  learn: [
    Seen & { exchange_id: string; self: string; other: string; order: Int32Array; told: Told; max_matches: number },
    Learnt,
  ]
  /** Leaves the records of both sites where a run of this site reads them, in the order of its nodes. */
  hand: [Omit<Seen, 'pieces'> & { sets: { site: string; size: number; pieces: readonly string[] }[] }, 'kept']
}
export type Deed = keyof Deeds

export type ExchangeWork = {
  /**
   * Does it within the limits of a run. Refuses what the data do not allow. Throws `Refused('timeout')` and
   * `Refused('too_large')` at the limits, and the signal's reason.
   */
  perform<D extends Deed>(
    exchange_id: string,
    deed: D,
    given: Deeds[D][0],
    signal: AbortSignal,
  ): Promise<Deeds[D][1] | Refused>
}
export const exchangeWork = part<ExchangeWork>('exchange-work')
