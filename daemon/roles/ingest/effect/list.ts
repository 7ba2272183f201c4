// Lists the effects of the caller's tenant with the live states of their DAGs.
import { listOperation } from '../managed-dag/list-operation.ts'
import { effectKind } from './kind.ts'

export const list = listOperation(effectKind, 'DataEffectPage')
