// The metrics of a run that is over: how long it took, how its tasks ended, and what it took in and landed.
import * as z from 'zod'
import { collection } from '../../../kernel/store/store.ts'
import { dagId } from '../../../shared/assembled-dag/assembled-dag.ts'
import { workflowRunState } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import { count, instant, provenanceFields, uid } from '../fields.ts'

const seconds = z.number().min(0)

const metricFields = {
  dag_id: dagId,
  dag_run_id: z.string().min(1).max(250),
  run_type: z.enum(['manual', 'scheduled', 'deployment']).meta({ description: 'What triggered the run' }),
  state: workflowRunState.extract(['success', 'failed']),
  queued_at: instant,
  start_date: instant.nullable().meta({ description: 'Null: it ended before it began' }),
  end_date: instant,
  wait_s: seconds.meta({ description: 'From its trigger to its start' }),
  duration_s: seconds.meta({ description: 'From its start to its end' }),
  tasks: z.strictObject({ total: count, success: count, failed: count, skipped: count }),
  tries: count.meta({ description: 'Tries of all tasks' }),
  input_bytes: count.meta({ description: 'Of the files that were read' }),
  rows: count.meta({ description: 'Rows of the datasets that it landed, without those that a later task took in' }),
  bytes: count.meta({ description: 'Bytes of these datasets' }),
  rejects: count.meta({ description: 'Rows that tasks rejected' }),
}
export const runMetric = z.strictObject(metricFields).meta({ id: 'RunMetric' })
export type RunMetric = z.infer<typeof runMetric>

const storedRunMetric = z.strictObject({
  ...provenanceFields,
  ...metricFields,
  /** The object whose DAG ran: its tenant and its label are those of the record. */
  object: uid,
  end_ts: z.number(),
})
export type StoredRunMetric = z.infer<typeof storedRunMetric>

/** No retention is documented: records stay until their object is deleted. */
export const runMetrics = collection({
  name: 'run-metric',
  schema: storedRunMetric,
  indexes: ['object', 'dag_id', 'dag_run_id', 'run_type', 'state', 'end_ts'],
  orders: [['object', 'end_ts']],
  documented: {
    alias: 'workflow-metrics',
    fields: { uid: 'object', dag_id: 'dag_id', dag_run_id: 'dag_run_id', run_type: 'run_type', state: 'state' },
  },
})

export function showRunMetric(value: StoredRunMetric): RunMetric {
  return runMetric.strip().parse(value)
}
