// A hint on a workflow: advice that names the task or the edge that it is about, and blocks nothing (document 002, rule 5).
import * as z from 'zod'
import { taskName } from '../../../../shared/assembled-dag/assembled-dag.ts'

export const hintCategories = ['missing best practice', 'data quality issue', 'modeling issue'] as const
export type HintCategory = (typeof hintCategories)[number]

/** The rules by name, each in its category, in the order in which hints are listed. */
export const hintRules = {
  output_without_validation: 'missing best practice',
  source_without_retries: 'missing best practice',
  time_limit_beyond_schedule: 'missing best practice',
  full_read_each_run: 'missing best practice',
  rows_only_counted: 'data quality issue',
  unbounded_rejects: 'data quality issue',
  values_left_out: 'data quality issue',
  inferred_types: 'data quality issue',
  unread_branch: 'modeling issue',
  repeated_task: 'modeling issue',
  shared_target: 'modeling issue',
  join_without_keys: 'modeling issue',
  unused_join_columns: 'modeling issue',
  join_of_new_rows: 'modeling issue',
  file_of_new_rows: 'modeling issue',
  early_signal: 'modeling issue',
  redundant_edge: 'modeling issue',
} as const satisfies Readonly<Record<string, HintCategory>>
export type HintRule = keyof typeof hintRules

export const workflowHint = z
  .strictObject({
    category: z.enum(hintCategories),
    rule: z.enum(Object.keys(hintRules) as [HintRule, ...HintRule[]]).meta({ description: 'Name of the rule' }),
    node: taskName.optional().meta({ description: 'The task that it is about' }),
    edge: z.strictObject({ from: taskName, to: taskName }).optional().meta({ description: 'Or the edge' }),
    rationale: z.string(),
  })
  .meta({ id: 'WorkflowHint' })
export type WorkflowHint = z.infer<typeof workflowHint>

/** As a rule finds it: the place of the task, or of both tasks of an edge. */
export type HintFinding = {
  readonly rule: HintRule
  readonly at: number
  /** Place of the task from which the edge comes; absent: the hint is about the task. */
  readonly from?: number
  readonly rationale: string
}
