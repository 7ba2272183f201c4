// Shows an effect.
import { showCommand } from '../../../program/show-command.ts'

export const definition = showCommand({
  words: 'ingest effect show',
  summary: 'Show an effect: its state, its operators and its newest run',
  object: 'effect',
  operation: 'ingest.effect.get',
  example: 'platform ingest effect show ef_…',
})
