// Starts a run that extracts, matches and resolves.
import { startOperation } from './start-operation.ts'

export const start = startOperation(
  {
    summary: 'Resolve records by a lens: extract, match and resolve; poll its status for progress',
    path: '/api/v2/fusion/run',
    tool: 'fusion_run_start',
  },
  'completed',
)
