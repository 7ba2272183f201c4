// Lists pipelines of the service, newest first.
import { listCommand } from '../../program/list-command.ts'

export const definition = listCommand({
  words: 'ingest pipelines',
  summary: 'List pipelines of the service, newest first',
  example: 'platform ingest pipelines',
  operation: 'ingest.datapipeline.list',
  columns: ['dag_id', 'status', 'last_run', 'schedule', 'next_scheduled_run'],
  row: ({ last_run, ...pipeline }) => ({ ...pipeline, last_run: (last_run as { state?: string } | undefined)?.state }),
  empty: 'no pipelines',
})
