// An assembled DAG: tasks of operators of the catalog, and the order in which they run. Every scheduler runs the same document.
import * as z from 'zod'

/** Names that are segments of paths, identifiers of Python and labels at once. */
export const taskName = z
  .string()
  .regex(
    /^[a-z][a-z0-9_]{0,62}$/,
    'must begin with a lower-case letter, then have lower-case letters, digits and _, at most 63',
  )

export const dagId = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_.-]{0,127}$/, 'must begin with a letter, then letters, digits and _ . -, at most 128')

/** Bounds that keep one DAG from occupying a site. */
export const max_tasks = 200
const max_retries = 10
const day_s = 86_400

export const dagTask = z
  .strictObject({
    name: taskName,
    operator: taskName.meta({ description: 'An operator of the catalog' }),
    params: z
      .record(z.string(), z.json())
      .default({})
      .meta({ description: 'Parameters, by the schema of the operator' }),
    after: z.array(taskName).max(max_tasks).default([]).meta({ description: 'Tasks that must have succeeded before' }),
    retries: z.int().min(0).max(max_retries).default(2),
    retry_delay_s: z.int().min(1).max(3_600).default(30).meta({ description: 'Doubled with each further try' }),
    time_limit_s: z.int().min(1).max(day_s).default(3_600).meta({ description: 'Of one try' }),
  })
  .meta({ id: 'DagTask' })
export type DagTask = z.infer<typeof dagTask>

export const assembledDag = z
  .strictObject({
    format: z.literal(1),
    dag_id: dagId,
    tasks: z.array(dagTask).min(1).max(max_tasks),
  })
  .meta({ id: 'AssembledDag' })
export type AssembledDag = z.infer<typeof assembledDag>
