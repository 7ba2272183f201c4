// The outline of the resolution role, known to every process of the site: its settings and its messages.
import { outline as outlineOf } from '../../kernel/role/role.ts'
import { settings } from './settings.ts'

export const outline = outlineOf({
  name: 'resolution',
  purpose: 'Finds who is who among records: lenses, runs, matches and clusters',
  port: 8003,
  serves: 'tenants',
  index_family: 'fusion',
  api_prefix: '/api/v2',
  needs: ['site'],
  settings: [settings],
  takes: ['resolution'],
  load: async () => (await import('./role.ts')).resolution,
})
