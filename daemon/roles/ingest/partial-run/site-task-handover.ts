// Where workers of another scheduler hand over tasks that the site performs, and take the results.
import { part } from '../../../kernel/role/part.ts'
import type { SiteTaskRequest, StepResult } from './model.ts'

/** `id`: of the try. `folder`: of the datasets of the run. `started`: when that began, in epoch seconds. */
export type HandedTask = {
  readonly id: string
  readonly folder: string
  readonly started: number
  readonly request: SiteTaskRequest
}

export type SiteTaskHandover = {
  /** Those that no worker has withdrawn, and that have no result yet. */
  list(): Promise<readonly HandedTask[]>
  /** Durable when it resolves. */
  answer(handed: HandedTask, result: StepResult): Promise<void>
}

/** Of a site that has all runs itself. */
export const emptyHandover: SiteTaskHandover = { list: async () => [], answer: async () => undefined }

export const siteTaskHandoverPart = part<SiteTaskHandover>('site-task-handover')
