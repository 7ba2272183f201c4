// What differs between the REST interfaces of Airflow 2 (v1) and Airflow 3 (v2), and their answers as this adapter reads them.
import * as z from 'zod'

export type AirflowVersion = 'v1' | 'v2'

const instant = z.iso.datetime({ offset: true }).nullable().default(null)
const name = z.string().min(1).max(250)
const total = z.int().min(0)

export const healthAnswer = z.looseObject({
  metadatabase: z.looseObject({ status: z.string().nullable() }),
  scheduler: z.looseObject({ status: z.string().nullable() }),
})

export const dagAnswer = z.looseObject({
  dag_id: name,
  is_paused: z.boolean().nullable(),
  /** v1. */
  is_active: z.boolean().nullable().optional(),
  /** v2. */
  is_stale: z.boolean().nullable().optional(),
  tags: z.array(z.looseObject({ name: z.string() })).nullish(),
  next_dagrun: instant,
  next_dagrun_logical_date: instant,
})
export type DagAnswer = z.output<typeof dagAnswer>
export const dagPage = z.looseObject({ dags: z.array(dagAnswer).max(1_000), total_entries: total })

export const runAnswer = z.looseObject({
  dag_id: name,
  dag_run_id: name,
  state: z.string(),
  logical_date: instant,
  start_date: instant,
  end_date: instant,
  conf: z.record(z.string(), z.json()).nullish(),
  note: z.string().nullish(),
})
export type RunAnswer = z.output<typeof runAnswer>
export const runPage = z.looseObject({ dag_runs: z.array(runAnswer).max(1_000), total_entries: total })

const taskAnswer = z.looseObject({
  task_id: name,
  state: z.string().nullable(),
  try_number: z.int().min(0).nullable(),
  start_date: instant,
  end_date: instant,
})
export type TaskAnswer = z.output<typeof taskAnswer>
export const taskPage = z.looseObject({ task_instances: z.array(taskAnswer).max(1_000), total_entries: total })

/** A text, or a text within JSON: as the version and its settings write it. */
export const returnedValue = z.looseObject({ value: z.unknown() })

export type Generation = {
  readonly version: AirflowVersion
  readonly health: string
  /** Newest first. */
  readonly run_order: string
  /** Before a run starts, v2 wants the date, null for none. */
  readonly date_of_run: (logical_date: string | undefined) => Readonly<Record<string, unknown>>
  /** The media type of logs. */
  readonly log_type: string
}

export const generations: Readonly<Record<AirflowVersion, Generation>> = {
  v1: {
    version: 'v1',
    health: '/api/v1/health',
    run_order: '-execution_date',
    date_of_run: (logical_date) => (logical_date === undefined ? {} : { logical_date }),
    log_type: 'text/plain',
  },
  v2: {
    version: 'v2',
    health: '/api/v2/monitor/health',
    run_order: '-run_after',
    date_of_run: (logical_date) => ({ logical_date: logical_date ?? null }),
    log_type: 'application/x-ndjson',
  },
}
