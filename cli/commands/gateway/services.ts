// Lists the services that are registered with the gateway.
import { listCommand } from '../../program/list-command.ts'
import { choice } from '../../program/params.ts'

export const definition = listCommand({
  words: 'gateway services',
  summary: 'List the services that are registered with the gateway, by name',
  options: {
    source: choice(
      'SOURCE',
      'Only those that register by themselves, that the profile names, or that the gateway runs',
      ['push', 'pull', 'stdio'],
    ),
  },
  example: 'platform gateway services',
  operation: 'gateway.registered-service.list',
  input: ({ source }) => ({ source }),
  columns: [
    ...(['name', 'state', 'url', 'component_kind', 'source'] as const),
    { heading: 'objects', cell: ({ objects }) => (objects as readonly string[]).length },
    ...(['registered_by', 'expires_at'] as const),
  ],
  empty: 'no service has registered',
})
