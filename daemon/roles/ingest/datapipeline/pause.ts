// Pauses the DAG of a pipeline; its runs wait.
import { pauseOperation } from '../managed-dag/pause-operation.ts'
import { pipelineKind } from './kind.ts'

export const pause = pauseOperation(pipelineKind, true)
