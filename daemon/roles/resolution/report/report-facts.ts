// Contents of the report of a run, as data. All texts are untrusted.
import type { ClusterDoubt } from '../engine/quality/suspicious-clusters.ts'
import type { ResultQuality } from '../fusion-run/result-quality.ts'

/** `score` and `cut`: bits, or a text similarity. */
export type ReportScale = 'log_odds' | 'likeness'

export type ReportRecord = { readonly source: string; readonly id: string; readonly cluster: number }

export type ReportPairField = {
  readonly field: string
  /** Values as they are in the data. */
  readonly left: string | undefined
  readonly right: string | undefined
  /** Undefined where a record has no value. */
  readonly level: string | undefined
  /** Bits that the field and the rarity of its value add to the score, and the score after it. */
  readonly weight: number
  readonly rarity: number
  readonly total: number
}

export type ReportPair = {
  readonly left: ReportRecord
  readonly right: ReportRecord
  readonly linked: boolean
  readonly score: number
  /** The score before any field. */
  readonly base: number
  /** Pairs of records that a decision against the result joins or separates. */
  readonly changes: number
  readonly fields: readonly ReportPairField[]
}

/** A pair that a person has decided. `linked`: whether its records are in one cluster. */
export type ReportDecision = {
  readonly left: ReportRecord
  readonly right: ReportRecord
  readonly isMatch: boolean
  readonly linked: boolean
}

export type ReportCluster = {
  readonly number: number
  readonly size: number
  readonly doubts: readonly ClusterDoubt[]
  /** Some of its records, with their values by the order of `fields` of the report. */
  readonly nodes: readonly (ReportRecord & { readonly values: readonly (string | undefined)[] })[]
  /** Compared pairs of these records, by their positions. `height`: score above the cut. */
  readonly edges: readonly { readonly from: number; readonly to: number; readonly height: number }[]
}

/** A curve over scores. */
export type ReportCurve = readonly (readonly [score: number, value: number])[]

export type ReportFacts = {
  readonly lens: string
  readonly version: string
  readonly scale: ReportScale
  readonly cut: number
  readonly quality: ResultQuality
  readonly counts: Readonly<
    Record<'records' | 'pairs_compared' | 'entities' | 'clusters' | 'records_in_clusters', number>
  >
  readonly sources: readonly {
    readonly name: string
    readonly records: number
    readonly path: string
    readonly sha256: string
  }[]
  readonly fields: readonly {
    readonly name: string
    readonly columns: readonly string[]
    readonly missing_bits: number
    readonly levels: readonly { readonly level: string; readonly bits: number }[]
  }[]
  readonly scores: {
    readonly from: number
    readonly to: number
    readonly bins: readonly { readonly pairs: number; readonly linked: number; readonly expected: number }[]
  }
  readonly found_by: readonly { readonly rule: string; readonly pairs: number }[]
  readonly rules: readonly {
    readonly rule: string
    readonly pairs: number
    readonly largest: number
    readonly left_out_count: number
  }[]
  /** Absent where scores are a text similarity: no record has a best score by itself. */
  readonly unlinkable?: { readonly records: number; readonly curve: ReportCurve }
  /** Precision and recall by known labels. */
  readonly labelled?: {
    readonly precision: ReportCurve
    readonly recall: ReportCurve
    readonly f1: number
    readonly best: number | undefined
  }
  readonly sizes: readonly { readonly size: number; readonly clusters: number }[]
  readonly largest: readonly ReportCluster[]
  readonly doubtful: readonly ReportCluster[]
  /** The most valuable first. */
  readonly pairs: readonly ReportPair[]
  readonly decided: readonly ReportDecision[]
  /** Number of pairs in the file of pairs. */
  readonly listed_pairs: number
}
