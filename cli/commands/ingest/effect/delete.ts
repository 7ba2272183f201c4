// Deletes an effect.
import { effectCommand } from '../../../program/pipeline-command.ts'

export const definition = effectCommand({
  words: 'ingest effect delete',
  summary: 'Delete an effect with its DAG and its runs; datasets that it landed stay',
  operation: 'ingest.effect.remove',
  input: { confirm: true },
  done: 'is deleted',
  example: 'platform ingest effect delete ef_…',
})
