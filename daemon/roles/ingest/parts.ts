// Parts that boot supplies to the ingest role: what performs a task of a DAG, and what reads schedules.
import { part } from '../../kernel/role/part.ts'
import type { ScheduleParser } from '../../kernel/schedule/schedule.ts'
import type { DagTask } from '../../shared/assembled-dag/assembled-dag.ts'
import type { LandedSummary } from './dataset/model.ts'

export type TaskWork = {
  readonly tenant_id: string
  readonly run: string
  readonly task: DagTask
  /** Datasets of the tasks before it, in the order in which it names them. */
  readonly inputs: readonly LandedSummary[]
}

/** The end of a try. `log`: its lines, bounded; `isFinal`: another try would end in the same way. */
export type TaskOutcome = { readonly log: string } & (
  | { readonly dataset?: LandedSummary }
  | { readonly failure: { readonly reason: string; readonly isFinal: boolean } }
)

export type TaskPerformer = {
  /**
   * Performs one try; what it made is durable when it resolves, and the same whatever was left by a try before. Rejects with the
   * reason of the signal.
   */
  perform(work: TaskWork, signal: AbortSignal): Promise<TaskOutcome>
}

export const taskPerformerPart = part<TaskPerformer>('task-performer')

export const scheduleParserPart = part<ScheduleParser>('schedule-parser')
