// Lists the nodes of the coalition that this site's hub serves.
import { listCommand } from '../../program/list-command.ts'

export const definition = listCommand({
  words: 'hub nodes',
  summary: 'List the nodes of the coalition, by name, including lost ones',
  example: 'platform hub nodes --json',
  operation: 'hub.node.list',
  columns: ['id', 'state', 'heard_at', 'site', 'node_tenant_id', 'description'],
  empty: 'no node has registered',
})
