// Shows the state of an effect alone: of its deployment, and of its DAG at the scheduler.
import { statusOperation } from '../managed-dag/status-operation.ts'
import { effectKind } from './kind.ts'

export const status = statusOperation(effectKind)
