// Lists the accepted tools and resources of registered services.
import { listCommand } from '../../program/list-command.ts'
import { text } from '../../program/params.ts'

export const definition = listCommand({
  words: 'gateway tools',
  summary: 'List the accepted tools and resources of registered services, and which of them are held',
  notes: [
    'State: offered; held, since the service changed its definition; absent, no longer listed by the service; unverified,',
    'since the list of the service has not been read; disabled, since the gateway offers no tools in this profile',
    '(gateway.mcp_enabled).',
  ].join('\n'),
  options: { service: text('NAME', 'Only those of this service') },
  example: 'platform gateway tools --service maps',
  operation: 'gateway.service-tool.list',
  input: ({ service }) => ({ service }),
  columns: ['offered_as', 'kind', 'state', 'permission', 'accepted_by', 'accepted_at', 'held_at', 'trouble'],
  empty: 'no tool or resource of a registered service has been accepted',
})
