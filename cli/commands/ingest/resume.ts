// Resumes a paused pipeline.
import { pipelineCommand } from '../../program/pipeline-command.ts'

export const definition = pipelineCommand({
  words: 'ingest resume',
  summary: 'Resume a paused pipeline, and the runs that wait for that',
  operation: 'ingest.datapipeline.update',
  input: { action: 'unpause' },
  done: 'goes on',
  example: 'platform ingest resume orders',
})
