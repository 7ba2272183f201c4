// What boot supplies to the resolution role alone: the work of a run, which is done in threads and left behind in files.

import type { Refusal } from '../../kernel/error/errors.ts'
import type { Label } from '../../kernel/label/label.ts'
import { part } from '../../kernel/operation/call.ts'
import type { RunCluster, RunMatch } from './engine/findings.ts'
import type { LookupWeights } from './engine/lookup/weights.ts'
import type { RunCounts, RunPhase, RunProgress, RunSource } from './fusion-run/model.ts'
import type { NodeRecord } from './fusion-run/node-data.ts'
import type { Lens } from './lens/model.ts'
import type { RegistryIndexCache } from './lookup/registry-index-cache.ts'
import type { SnapshotIndexCache } from './lookup/snapshot-index-cache.ts'
import type { SnapshotLine, SnapshotManifest } from './snapshot/model.ts'

/** Of a run, what its phases need. */
export type PhaseJob = {
  readonly run: string
  readonly phase: RunPhase
  /** With all that the run lays over it. */
  readonly lens: Lens
  readonly tenant_id: string
  readonly seed: number
  readonly sources: readonly RunSource[]
  /** Whether the pairs are to be read when the phase is over. */
  readonly isLast: boolean
}

export type PhaseResult = {
  readonly counts: RunCounts
  readonly sources?: RunSource[]
  readonly route?: 'clusters' | 'links'
  readonly weights?: LookupWeights
  readonly evidence?: { field: string; bits: number }[]
  readonly scale?: 'log_odds' | 'likeness'
}

export type RunWork = {
  /** Of these data files of the tenant, those that cannot be read, and why. */
  findUnreadable(tenant_id: string, files: readonly string[]): Promise<ReadonlyMap<string, string>>
  /** Carries out what is given for a tenant once all that was given before has ended. */
  runInTurn<T>(tenant_id: string, work: () => Promise<T>): Promise<T>
  /**
   * Keeps records that came with a request, by the place of their node; durable when it resolves. `release` says that the run
   * is in the store, or never will be. Throws `Refusal('conflict')` for a run that keeps some already.
   */
  storeRecords(run: string, nodes: ReadonlyMap<number, readonly NodeRecord[]>): Promise<{ release(): void }>
  /**
   * Carries out one phase from what the one before left; durable when it resolves. Refuses what the data or the lens
   * do not allow. Throws `Refusal` at its limits, and the signal's reason.
   */
  perform(job: PhaseJob, signal: AbortSignal): Promise<PhaseResult | Refusal>
  /** What the last phase left, in batches. */
  matches(run: string): AsyncIterable<readonly RunMatch[]>
  /** Every cluster, those of one record too, in batches. */
  clusters(run: string): AsyncIterable<readonly RunCluster[]>
  /** How far a run is that this process works on. */
  progress(run: string): RunProgress | undefined
  /** Says how far, where the role itself does the work. */
  reportProgress(run: string, progress: Omit<RunProgress, 'eta_s'>): void
  /** Drops all files of a run, once nothing works on them. */
  drop(run: string): Promise<void>
  /** Runs that have files, besides those that are being kept just now. */
  listStoredRuns(): Promise<readonly string[]>
}
export const runWork = part<RunWork>('run-work')

/** Registries in memory, for whoever looks a record up. */
export const registryIndexCachePart = part<RegistryIndexCache>('lookups')

/** The same of snapshots, where records are only looked up. */
export const snapshotIndexCachePart = part<SnapshotIndexCache>('snapshot-lookups')

/** A snapshot that was taken in; labels in the terms of this site. */
export type ImportedSnapshot = {
  /** Another for another file. */
  readonly key: string
  readonly manifest: SnapshotManifest
  readonly imported_at: string
  /** Of all that is in it together. */
  readonly label: Label
  readonly labels: readonly Label[]
}

export type SnapshotStore = {
  list(): Promise<readonly ImportedSnapshot[]>
  /** Its lines in order, by lens; labels are places in `labelPolicy`. Refuses `unavailable` for a file that is damaged. */
  read(lens: string): Promise<{ labels: readonly Label[]; lines: AsyncIterable<SnapshotLine> } | Refusal>
}
export const snapshotStorePart = part<SnapshotStore>('snapshots')
