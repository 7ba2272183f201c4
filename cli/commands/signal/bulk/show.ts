// Shows a bulk disposition and the signals that it did not change.
import { showCommand } from '../../../program/show-command.ts'

export const definition = showCommand({
  words: 'signal bulk show',
  summary: 'Show a bulk disposition and the signals it did not change',
  object: 'bulk',
  operation: 'intelligence.bulk.get',
  example: 'platform signal bulk show blk_…',
})
