// Lists effects of the service, newest first.
import { effectColumns } from '../../../format/effect.ts'
import { listCommand } from '../../../program/list-command.ts'

export const definition = listCommand({
  words: 'ingest effect list',
  summary: 'List effects of the service, newest first',
  example: 'platform ingest effect list',
  operation: 'ingest.effect.list',
  columns: effectColumns,
  empty: 'no effects',
})
