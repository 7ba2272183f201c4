// Shows an insight with its editions.
import { showCommand } from '../../program/show-command.ts'

export const definition = showCommand({
  words: 'insight show',
  summary: 'Show an insight with its editions',
  object: 'insight',
  operation: 'intelligence.insight.get',
  example: 'platform insight show ins_…',
})
