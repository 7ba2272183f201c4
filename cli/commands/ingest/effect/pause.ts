// Pauses an effect.
import { effectCommand } from '../../../program/pipeline-command.ts'

export const definition = effectCommand({
  words: 'ingest effect pause',
  summary: 'Pause an effect: its runs wait, active ones before their next task',
  operation: 'ingest.effect.update',
  input: { action: 'pause' },
  done: 'is paused',
  example: 'platform ingest effect pause ef_…',
})
