// Stops the active runs of a pipeline.
import { stopOperation } from '../managed-dag/stop-operation.ts'
import { pipelineKind } from './kind.ts'

export const stop = stopOperation(pipelineKind)
