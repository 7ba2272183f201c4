// Triggers a run of an effect.
import { runOperation } from '../managed-dag/run-operation.ts'
import { effectKind } from './kind.ts'

export const run = runOperation(effectKind)
