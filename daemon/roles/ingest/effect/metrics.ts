// Lists the metrics of the finished runs of an effect, newest first.
import { metricsOperation } from '../managed-dag/metrics-operation.ts'
import { effectKind } from './kind.ts'

export const metrics = metricsOperation(effectKind)
