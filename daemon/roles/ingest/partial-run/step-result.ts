// The result of a try of a task, as a worker hands it to its scheduler.
import type { RunTask } from '../runner/model.ts'
import { showLineage } from '../runner/show-lineage.ts'
import type { StepResult } from './model.ts'

type MadeByTask = Pick<RunTask, 'dataset' | 'written' | 'requested' | 'catalog_version'>

export type TryEnd = { readonly log: string } & (
  | { readonly made: MadeByTask }
  | { readonly failure: NonNullable<StepResult['failure']> }
)

export function describeResult(task: string, { log, ...end }: TryEnd): StepResult {
  if ('failure' in end) return { format: 1, task, state: 'failed', log, failure: end.failure }
  const { dataset, requested } = end.made
  const lineage = showLineage(end.made)
  return {
    ...{ format: 1, task, state: 'success', log },
    ...(dataset && { dataset }),
    ...(lineage && { lineage }),
    ...(requested && { requested }),
  }
}
