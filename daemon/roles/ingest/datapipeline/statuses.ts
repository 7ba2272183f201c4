// Lists the states of the pipelines of the caller's tenant.
import { statusesOperation } from '../managed-dag/status-operation.ts'
import { pipelineKind } from './kind.ts'

export const statuses = statusesOperation(pipelineKind, 'DataPipelineStatusPage')
