// Outline of the hub role for every process of the site: its settings and the messages that it accepts.
import { outline as outlineOf } from '../../kernel/role/role.ts'
import { listener, settings } from './settings.ts'

export const outline = outlineOf({
  name: 'hub',
  purpose: 'Joins the sites of a coalition: nodes, capabilities, a status feed and mailboxes',
  listeners: [listener],
  serves: 'tenants',
  api_prefix: '/api/v2',
  needs: ['site'],
  settings: [settings],
  takes: {},
  load: async () => (await import('./role.ts')).hub,
})
