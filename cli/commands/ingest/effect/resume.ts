// Resumes an effect.
import { effectCommand } from '../../../program/pipeline-command.ts'

export const definition = effectCommand({
  words: 'ingest effect resume',
  summary: 'Resume an effect: its waiting runs begin',
  operation: 'ingest.effect.update',
  input: { action: 'unpause' },
  done: 'is resumed',
  example: 'platform ingest effect resume ef_…',
})
