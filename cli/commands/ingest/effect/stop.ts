// Stops the active runs of an effect.
import { effectCommand } from '../../../program/pipeline-command.ts'

export const definition = effectCommand({
  words: 'ingest effect stop',
  summary: 'Stop the active runs of an effect; what they have landed stays',
  operation: 'ingest.effect.stop',
  done: 'has no active run any more',
  example: 'platform ingest effect stop ef_…',
})
