// Outline of the edge role for every process of the site.
import { outline as outlineOf } from '../../kernel/role/role.ts'
import { listener, plainListener, settings } from './settings.ts'

export const outline = outlineOf({
  name: 'edge',
  purpose: 'One front door of the site: forwards each request to the service that owns its path',
  listeners: [listener, plainListener],
  serves: 'site',
  api_prefix: '/api/v2/edge',
  needs: [],
  settings: [settings],
  takes: {},
  load: async () => (await import('./role.ts')).edge,
})
