// The types of connections that the embedded scheduler reads and tests.
import { type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import type { WorkflowScheduler } from '../../../../shared/workflow-scheduler/workflow-scheduler.ts'

export const readable_types = [
  'sqlite',
  'elasticsearch',
  'parquet',
  'postgres',
  'mysql',
  'mssql',
  'oracle',
  'redis',
  'mongo',
  'cassandra',
  'aws_s3',
  'azure_blob',
  'gcs',
  'sharepoint',
  'rabbitmq',
  'kafka',
] as const
export type ReadableType = (typeof readable_types)[number]

export function isReadable(name: string): name is ReadableType {
  return (readable_types as readonly string[]).includes(name)
}

/** Airflow has providers for every type. */
export function refuseUnreadable({ kind }: Pick<WorkflowScheduler, 'kind'>, name: string): Refusal | undefined {
  if (kind !== 'embedded' || isReadable(name)) return undefined
  const known = readable_types.join(', ')
  return refuse('needs_airflow', `the embedded scheduler reads no ${name}: choose one of ${known}, or set up Airflow`, [
    { path: 'conn_type', message: `must be one of ${known} on the embedded scheduler` },
  ])
}
