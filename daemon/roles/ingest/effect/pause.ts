// Pauses the DAG of an effect; its runs wait.
import { pauseOperation } from '../managed-dag/pause-operation.ts'
import { effectKind } from './kind.ts'

export const pause = pauseOperation(effectKind, true)
