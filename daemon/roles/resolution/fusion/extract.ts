// Starts a run that reads its records by the lens and stops there, until its matching is requested.
import { startOperation } from '../fusion-run/start-operation.ts'

export const extract = startOperation(
  {
    summary: 'Begin a run with its first phase alone: read the records by the lens',
    path: '/api/v2/fusion/extract',
    tool: 'fusion_extract',
  },
  'extracted',
)
