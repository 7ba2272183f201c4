// Gets a pipeline with the live state of its DAG.
import { getOperation } from '../managed-dag/get-operation.ts'
import { pipelineKind } from './kind.ts'

export const get = getOperation(pipelineKind)
