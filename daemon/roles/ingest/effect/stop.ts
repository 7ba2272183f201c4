// Stops the active runs of an effect.
import { stopOperation } from '../managed-dag/stop-operation.ts'
import { effectKind } from './kind.ts'

export const stop = stopOperation(effectKind)
