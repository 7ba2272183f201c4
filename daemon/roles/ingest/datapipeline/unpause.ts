// Resumes the DAG of a pipeline, and the runs that wait.
import { pauseOperation } from './pause-operation.ts'

export const unpause = pauseOperation({ summary: 'Resume the DAG of a pipeline', tool: 'datapipeline_unpause' }, false)
