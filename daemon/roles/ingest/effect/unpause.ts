// Resumes the DAG of an effect, and the runs that wait.
import { pauseOperation } from '../managed-dag/pause-operation.ts'
import { effectKind } from './kind.ts'

export const unpause = pauseOperation(effectKind, false)
