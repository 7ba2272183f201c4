// Shows the state of a pipeline alone: of its deployment, and of its DAG at the scheduler.
import { statusOperation } from '../managed-dag/status-operation.ts'
import { pipelineKind } from './kind.ts'

export const status = statusOperation(pipelineKind)
