// Lists the states of the effects of the caller's tenant.
import { statusesOperation } from '../managed-dag/status-operation.ts'
import { effectKind } from './kind.ts'

export const statuses = statusesOperation(effectKind, 'DataEffectStatusPage')
