// Parts that boot supplies to the ingest role: what performs a task of a DAG, tests a connection, and reads schedules.
import { part } from '../../kernel/role/part.ts'
import type { ScheduleParser } from '../../kernel/schedule/schedule.ts'
import type { DagTask } from '../../shared/assembled-dag/assembled-dag.ts'
import type { ConnectionTest } from './connection/model.ts'
import type { ConnectionConfig } from './connection/type/catalog.ts'
import type { DatasetRef, LandedCursor, LandedSummary, WrittenFile } from './dataset/model.ts'
import type { IngestFaultPoint } from './fault-points.ts'
import type { DatasetPart, SentColumn } from './federation/model.ts'
import type { HttpDataSource } from './http-source/model.ts'
import type { TaskTarget } from './http-target/model.ts'
import type { CarriedFile } from './operator/ingest-landing-zone.ts'

export type TaskWork = {
  readonly tenant_id: string
  /** The pipeline or effect whose run it is. */
  readonly pipeline: string
  readonly run: string
  readonly task: DagTask
  /** Datasets of the tasks before it, in the order in which it names them. */
  readonly inputs: readonly LandedSummary[]
  /** The connection that the task names. */
  readonly connection?: OpenConnection
  /** The file of the landing zone that began the run. */
  readonly carried?: CarriedFile
  /** The source of the profile that the task names. */
  readonly http_source?: HttpDataSource
  /** The service of the profile that the task names. */
  readonly http_target?: TaskTarget
  /** Of a task that reads what is new. */
  readonly cursor?: TaskCursor
}

/** `of`: digest of what is read. `base`: the dataset at whose cursor the reading begins; absent for the first one. */
export type TaskCursor = { readonly of: string; readonly base?: DatasetRef & Pick<LandedCursor, 'settled'> }

/** `isFinal`: another try would end in the same way. */
export type TaskFailure = { readonly reason: string; readonly isFinal: boolean }

/** The end of a try. `log`: its lines, bounded. */
export type TaskOutcome = { readonly log: string } & (
  | { readonly dataset?: LandedSummary; readonly written?: WrittenFile; readonly cursor?: LandedCursor }
  | { readonly failure: TaskFailure }
)

export type TaskPerformer = {
  /**
   * Performs one try; what it made is durable when it resolves, and the same whatever was left by a try before. Rejects with the
   * reason of the signal.
   */
  perform(work: TaskWork, signal: AbortSignal): Promise<TaskOutcome>
  /**
   * Ends a task whose run is over, or that has failed: waits for a try that is under way, and lets no other begin. Returns what it
   * has landed.
   */
  close(tenant_id: string, dataset: string): Promise<(DatasetRef & { readonly cursor: LandedCursor }) | undefined>
}

/** A connection for one use. `secret`: its secret fields as JSON text. */
export type OpenConnection = {
  readonly tenant_id: string
  readonly conn_type: string
  readonly config: ConnectionConfig
  readonly secret?: string
}

export type ConnectionProber = {
  /** Reads a little of the source. Faults of the source are answers, without addresses, paths and secrets. */
  probe(connection: OpenConnection, timeout_ms: number, signal: AbortSignal): Promise<ConnectionTest>
}

/** A landed dataset in parts that fit into messages, on the disk until it is closed. */
export type CutDataset = {
  readonly columns: SentColumn[]
  readonly parts: number
  readonly rows: number
  /** Of its rows as JSON lines. */
  readonly sha256: string
  /** `number`: from 1. */
  read(number: number): Promise<DatasetPart['rows']>
  close(): Promise<void>
}

export type DatasetCutter = {
  /** The same dataset gives the same parts. Rejects with the reason of the signal. */
  cut(
    tenant_id: string,
    dataset: LandedSummary,
    signal: AbortSignal,
  ): Promise<CutDataset | { readonly failure: TaskFailure }>
}

/** Does nothing but in builds for tests, which end the process there. */
export const faultPointPart = part<(point: IngestFaultPoint) => void>('fault-point')

export const connectionProberPart = part<ConnectionProber>('connection-prober')
export const datasetCutterPart = part<DatasetCutter>('dataset-cutter')
export const taskPerformerPart = part<TaskPerformer>('task-performer')

/** What the code of tasks may use, such as a library of the executable or a package of a cluster's workers. */
export type WorkerPackage = { readonly name: string; readonly version: string }

/** Read at the start. */
export const workerPackagesPart = part<readonly WorkerPackage[]>('worker-packages')

export const scheduleParserPart = part<ScheduleParser>('schedule-parser')
