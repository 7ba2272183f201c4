// Lists the runs of a pipeline, newest first.
import { runsOperation } from '../managed-dag/runs-operation.ts'
import { pipelineKind } from './kind.ts'

export const runs = runsOperation(pipelineKind)
