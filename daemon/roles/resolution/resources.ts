// Resources of this role that MCP clients read by URI.
import type { McpResourceDeclaration } from '../../kernel/api/mcp-resources.ts'
import { list as clusterList } from './entity-cluster/list.ts'
import { list as matchList } from './entity-match/list.ts'
import { list as runList } from './fusion-run/list.ts'
import { status } from './fusion-run/status.ts'

export const resources: readonly McpResourceDeclaration[] = [
  {
    uri: 'fusion://runs',
    name: 'Active runs',
    description: 'Runs with a phase in progress or queued',
    operation: runList,
    input: { active: true },
  },
  { uri: 'fusion://runs/{run_id}', name: 'Run', description: 'Progress of a run', operation: status },
  {
    uri: 'fusion://runs/{run_id}/matches',
    name: 'Matches of a run',
    description: 'Scored matches of a run, most certain first',
    operation: matchList,
    input: { limit: 500 },
  },
  {
    uri: 'fusion://runs/{run_id}/clusters',
    name: 'Clusters of a run',
    description: 'Resolved clusters of a run, largest first',
    operation: clusterList,
    input: { limit: 500 },
  },
]
