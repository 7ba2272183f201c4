// Cancels a run of the service.
import { cancelCommand } from '../../program/show-command.ts'

export const definition = cancelCommand({
  words: 'resolve cancel',
  summary: 'Cancel a run of the service',
  object: 'run',
  operation: 'resolution.fusion-run.cancel',
  example: 'platform resolve cancel run_…',
})
