// Gets an effect with the live state of its DAG.
import { getOperation } from '../managed-dag/get-operation.ts'
import { effectKind } from './kind.ts'

export const get = getOperation(effectKind)
