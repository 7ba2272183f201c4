// Lists the runs of an effect, newest first.
import { runsOperation } from '../managed-dag/runs-operation.ts'
import { effectKind } from './kind.ts'

export const runs = runsOperation(effectKind)
