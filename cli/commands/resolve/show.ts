// Shows a run of the service and its progress.
import { showCommand } from '../../program/show-command.ts'

export const definition = showCommand({
  words: 'resolve show',
  summary: 'Show a run of the service and its progress',
  object: 'run',
  operation: 'resolution.fusion-run.status',
  example: 'platform resolve show run_…',
})
