// Lists runs of the service, newest first.
import { listChoices } from '../../client/operations.ts'
import { listCommand } from '../../program/list-command.ts'
import { choice } from '../../program/params.ts'

export const definition = listCommand({
  words: 'resolve runs',
  summary: 'List runs of the service, newest first',
  options: {
    state: choice('STATE', 'Only those in this state', await listChoices('resolution.fusion-run.list', 'state')),
  },
  example: 'platform resolve runs --state failed',
  operation: 'resolution.fusion-run.list',
  input: ({ state }) => ({ summary: true, state }),
  columns: ['uid', 'state', 'lens', 'lens_version', 'created_at'],
  empty: 'no runs match',
})
