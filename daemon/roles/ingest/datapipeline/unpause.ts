// Resumes the DAG of a pipeline, and the runs that wait.
import { pauseOperation } from '../managed-dag/pause-operation.ts'
import { pipelineKind } from './kind.ts'

export const unpause = pauseOperation(pipelineKind, false)
