// Pauses a pipeline.
import { pipelineCommand } from '../../program/pipeline-command.ts'

export const definition = pipelineCommand({
  words: 'ingest pause',
  summary: 'Pause a pipeline: its runs wait, active ones before their next task',
  operation: 'ingest.datapipeline.update',
  input: { action: 'pause' },
  done: 'is paused',
  example: 'platform ingest pause orders',
})
