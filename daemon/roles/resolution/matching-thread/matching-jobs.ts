// The jobs of the matching thread, which owns the indexes of registries, and the queries with which it reads the store.
import type { SharedField, SharedValue } from '../engine/lookup/find-sharing.ts'
import type { FieldValues } from '../engine/lookup/keys.ts'
import type { RecordSearch, WantedValues } from '../engine/lookup/search-records.ts'
import type { LookupWeights } from '../engine/lookup/weights.ts'
import type { FormedValues } from '../engine/text/text-form.ts'
import type { RecordRef } from '../fields.ts'
import type { StoredRun } from '../fusion-run/model.ts'
import type { NodeRecord } from '../fusion-run/node-data.ts'
import type { Lens } from '../lens/model.ts'
import type { LookupEntity, ShownCandidate } from '../lookup/lookup-registry.ts'
import type { ArrivalMatching, ComparedUids } from '../registry/arrival-scores.ts'
import type { DecidedClusters, DecisionInput } from '../registry/cluster-with-decisions.ts'

/** Identifies an index in the thread. */
export type IndexId = string

export type IndexedRecord = {
  readonly uid: string
  /** undefined: the index must not have the record. */
  readonly values: FieldValues | undefined
  /** Whether its values count in value frequencies. */
  readonly isCounted: boolean
}

/** A record without its values, which the index has. */
export type JoinableRef = {
  readonly uid: string
  readonly ref: RecordRef
  readonly base: string
  readonly runBase: string | undefined
}

type LookupJob = {
  readonly index: IndexId
  readonly tenant_id: string
  readonly lens: Lens
  readonly weights: LookupWeights
  readonly route: StoredRun['route']
  readonly record: NodeRecord
  readonly ref: RecordRef | undefined
  readonly limit: number
}

type JoinJob = Omit<ArrivalMatching, 'index' | 'isApart'> & {
  readonly index: IndexId
  readonly waiting: readonly JoinableRef[]
}

/** Input and answer of each job. */
export type MatchingJobs = {
  /** Creates the index if it does not exist. Answers with the number of its records, and its memory. */
  readonly put_records: readonly [
    {
      readonly index: IndexId
      readonly lens: Lens
      readonly records: readonly IndexedRecord[]
      readonly isNew: boolean
      /** Indexes to remove before. */
      readonly evicted: readonly IndexId[]
    },
    { readonly size: number; readonly bytes: number },
  ]
  /** Answers undefined for a record without any value that the lens reads. */
  readonly normalise: readonly [
    { readonly lens: Lens; readonly records: readonly NodeRecord[] },
    readonly (FieldValues | undefined)[],
  ]
  /** Brings values that were stored before an update into the present form of texts. */
  readonly reform: readonly [
    { readonly lens: Lens; readonly records: readonly FormedValues[] },
    readonly FormedValues[],
  ]
  /** Answers undefined for such a record. */
  readonly look_up: readonly [LookupJob, readonly ShownCandidate[] | undefined]
  readonly search_records: readonly [
    {
      readonly index: IndexId
      readonly lens: Lens
      readonly where: WantedValues
      readonly after: string | undefined
      readonly limit: number
    },
    RecordSearch,
  ]
  readonly find_sharing: readonly [
    { readonly index: IndexId; readonly fields: readonly SharedField[]; readonly max_records: number },
    readonly SharedValue[],
  ]
  readonly join_arrivals: readonly [JoinJob, undefined]
  readonly apply_decisions: readonly [DecisionInput, DecidedClusters]
}

export type MatchingJobName = keyof MatchingJobs
export type MatchingJob = {
  [N in MatchingJobName]: { readonly job: N; readonly input: MatchingJobs[N][0] }
}[MatchingJobName]

export type ClusteredUids = { readonly base: string; readonly uids: readonly string[] }

/** Input and answer of each query; a document that the caller may not see is undefined. */
export type MatchingQueries = {
  /** The entity of each record. */
  readonly entities_of: readonly [readonly string[], readonly (LookupEntity | undefined)[]]
  readonly visible_records: readonly [
    readonly string[],
    readonly ({ readonly ref: RecordRef; readonly entity: string | undefined } | undefined)[],
  ]
  readonly records_by_uid: readonly [readonly string[], readonly JoinableRef[]]
  /** All records of these clusters. */
  readonly records_by_base: readonly [readonly string[], readonly JoinableRef[]]
  /** Takes over the clusters; before all pairs. */
  readonly take_clusters: readonly [readonly ClusteredUids[], undefined]
  readonly take_pairs: readonly [readonly ComparedUids[], undefined]
  /** Pairs of earlier matches of the waiting records that were not taken. */
  readonly former_pairs: readonly [undefined, readonly (readonly [left: string, right: string])[]]
}

export type MatchingQueryName = keyof MatchingQueries

/** Answers the queries that a job makes. */
export type MatchingAnswers = {
  readonly [Q in MatchingQueryName]?: (input: MatchingQueries[Q][0]) => Promise<MatchingQueries[Q][1]>
}

export type MatchingQuery = { readonly query: MatchingQueryName; readonly input: unknown }
