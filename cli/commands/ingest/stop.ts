// Stops the active runs of a pipeline.
import { pipelineCommand } from '../../program/pipeline-command.ts'

export const definition = pipelineCommand({
  words: 'ingest stop',
  summary: 'Stop the active runs of a pipeline; what they have landed stays',
  operation: 'ingest.datapipeline.stop',
  done: 'has no active run any more',
  example: 'platform ingest stop orders',
})
