// Parts that boot supplies to the resolution role: the execution of runs in threads, and the indexes and snapshots for
// lookups.

import type { Refusal } from '../../kernel/error/errors.ts'
import type { Label } from '../../kernel/label/label.ts'
import type { FairTurns } from '../../kernel/role/fair-turns.ts'
import { part } from '../../kernel/role/part.ts'
import type { RunCluster, RunMatch } from './engine/findings.ts'
import type { LookupWeights } from './engine/lookup/weights.ts'
import type { LeftOut } from './fields.ts'
import type { RunCounts, RunPhase, RunProgress } from './fusion-run/model.ts'
import type { NodeRecord } from './fusion-run/node-data.ts'
import type { ResultQuality } from './fusion-run/result-quality.ts'
import type { RunSource } from './fusion-run/run-source.ts'
import type { Lens } from './lens/model.ts'
import type { RegistryIndexCache } from './lookup/registry-index-cache.ts'
import type { SnapshotIndexCache } from './lookup/snapshot-index-cache.ts'
import type { PeerDecisionProgress } from './peer-decision/progress.ts'
import type { SnapshotLine, SnapshotManifest } from './snapshot/model.ts'
import type { WithdrawnRef } from './withdrawal/list-withdrawn.ts'

/** The input of one phase of a run. */
export type PhaseJob = {
  readonly run: string
  readonly phase: RunPhase
  /** The lens with the overrides of the run applied. */
  readonly lens: Lens
  readonly tenant_id: string
  readonly seed: number
  readonly sources: readonly RunSource[]
  /** Whether the pairs are read after this phase. */
  readonly isLast: boolean
  /** Records that the first phase leaves out. */
  readonly withdrawn: readonly WithdrawnRef[]
}

export type PhaseResult = {
  readonly counts: RunCounts
  readonly sources?: RunSource[]
  readonly route?: 'clusters' | 'links'
  readonly weights?: LookupWeights
  readonly evidence?: { field: string; bits: number }[]
  readonly scale?: 'log_odds' | 'likeness'
  readonly quality?: ResultQuality
  /** What the phase left out; replaces the matches that an earlier one left out. */
  readonly left_out?: LeftOut[]
}

export type RunWork = {
  /** Finds those of `files` that cannot be read as data files of the tenant; maps each to the reason. */
  findUnreadable(tenant_id: string, files: readonly string[]): Promise<ReadonlyMap<string, string>>
  /** Runs `work` for a tenant after all work that was queued for it before has ended. */
  runInTurn<T>(tenant_id: string, work: () => Promise<T>): Promise<T>
  /**
   * Stores records that came with a request, by the position of their node; durable when it resolves. Call `release`
   * once the run is in the store, or will never be. Throws `Refusal('conflict')` for a run that already has stored
   * records.
   */
  storeRecords(run: string, nodes: ReadonlyMap<number, readonly NodeRecord[]>): Promise<{ release(): void }>
  /**
   * Carries out one phase, starting from the files of the phase before; durable when it resolves. Refuses a run that
   * the data or the lens do not allow. Throws `Refusal` at its limits, and the reason of the signal.
   */
  perform(job: PhaseJob, signal: AbortSignal): Promise<PhaseResult | Refusal>
  /** Matches that the last phase stored, in batches. */
  matches(run: string): AsyncIterable<readonly RunMatch[]>
  /** Every cluster in batches, single records included. */
  clusters(run: string): AsyncIterable<readonly RunCluster[]>
  /** Progress of a run that this process executes. */
  progress(run: string): RunProgress | undefined
  /** Records the progress of work that the role does itself. */
  reportProgress(run: string, progress: Omit<RunProgress, 'eta_s'>): void
  /** Deletes all files of a run. Call it only when nothing uses them any longer. */
  drop(run: string): Promise<void>
  /** Lists runs that have files, except runs whose records are being stored. */
  listStoredRuns(): Promise<readonly string[]>
}
export const runWork = part<RunWork>('run-work')

/** Whose work of each kind is next; remembered between the turns of the workers. */
export type WorkTurns = Readonly<Record<'arrivals' | 'registries', FairTurns>>
export const workTurnsPart = part<WorkTurns>('work-turns')

/** By registry, why its waiting records cannot be matched, as last logged by this process. */
export const refusedRegistriesPart = part<Map<string, string>>('refused-registries')

/** Indexes for lookups in the registry of this site. */
export const registryIndexCachePart = part<RegistryIndexCache>('lookups')

/** Indexes for lookups in snapshots of other sites' registries. */
export const snapshotIndexCachePart = part<SnapshotIndexCache>('snapshot-lookups')

/** A snapshot that this site imported; labels are in the terms of this site. */
export type ImportedSnapshot = {
  /** Changes whenever the file changes. */
  readonly key: string
  readonly manifest: SnapshotManifest
  readonly imported_at: string
  /** Label of the whole snapshot: the join of the labels inside. */
  readonly label: Label
  readonly labels: readonly Label[]
}

/** How far this process has read the decisions of peers. */
export const peerDecisionProgressPart = part<PeerDecisionProgress>('peer-decisions')

export type SnapshotStore = {
  list(): Promise<readonly ImportedSnapshot[]>
  /**
   * Reads the lines of a lens in order; a label in a line is an index into `labels`. Refuses `unavailable` for a
   * damaged file.
   */
  read(lens: string): Promise<{ labels: readonly Label[]; lines: AsyncIterable<SnapshotLine> } | Refusal>
}
export const snapshotStorePart = part<SnapshotStore>('snapshots')
