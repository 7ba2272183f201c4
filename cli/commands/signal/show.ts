// Shows a signal with its history.
import { showCommand } from '../../program/show-command.ts'

export const definition = showCommand({
  words: 'signal show',
  summary: 'Show a signal with its history',
  object: 'signal',
  operation: 'intelligence.signal.get',
  example: 'platform signal show sig_…',
})
