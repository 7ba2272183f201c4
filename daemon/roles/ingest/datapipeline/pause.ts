// Pauses the DAG of a pipeline; its runs wait.
import { pauseOperation } from './pause-operation.ts'

export const pause = pauseOperation({ summary: 'Pause the DAG of a pipeline', tool: 'datapipeline_pause' }, true)
