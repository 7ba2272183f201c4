// Lists the metrics of the finished runs of a pipeline, newest first.
import { metricsOperation } from '../managed-dag/metrics-operation.ts'
import { pipelineKind } from './kind.ts'

export const metrics = metricsOperation(pipelineKind)
