// Starts a run that reads its records by the lens, then waits for a request to match them.
import { startOperation } from '../fusion-run/start-operation.ts'

export const extract = startOperation(
  {
    summary: 'Start a run and perform its first phase only: read the records by the lens',
    path: '/api/v2/fusion/extract',
    tool: 'fusion_extract',
  },
  'extracted',
)
