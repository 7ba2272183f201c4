// Cancels a bulk disposition; signals that it changed stay changed.
import { cancelCommand } from '../../../program/show-command.ts'

export const definition = cancelCommand({
  words: 'signal bulk cancel',
  summary: 'Cancel a bulk disposition; signals already changed stay changed',
  object: 'bulk',
  operation: 'intelligence.bulk.cancel',
  example: 'platform signal bulk cancel blk_…',
})
