// Triggers a run of a pipeline.
import { runOperation } from '../managed-dag/run-operation.ts'
import { pipelineKind } from './kind.ts'

export const run = runOperation(pipelineKind)
