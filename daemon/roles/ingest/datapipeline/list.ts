// Lists the pipelines of the caller's tenant with the live states of their DAGs.
import { listOperation } from '../managed-dag/list-operation.ts'
import { pipelineKind } from './kind.ts'

export const list = listOperation(pipelineKind, 'DataPipelinePage')
