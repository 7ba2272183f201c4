// Lists the ingresses that the gateway keeps in a cluster for registered services.
import { listCommand } from '../../program/list-command.ts'
import { choice } from '../../program/params.ts'

export const definition = listCommand({
  words: 'gateway ingresses',
  summary: 'List the ingresses of registered services in the cluster, and why some are not written',
  options: {
    state: choice('STATE', 'Only those in this state', ['written', 'pending', 'unroutable', 'conflict', 'failed']),
  },
  example: 'platform gateway ingresses --state conflict',
  operation: 'gateway.managed-ingress.list',
  input: ({ state }) => ({ state }),
  columns: ['name', 'state', 'backend', 'priority', 'paths', 'changed_at', 'reason'],
  empty: 'the gateway keeps no ingresses: ingress.managed.enabled is off, or no service has registered',
})
