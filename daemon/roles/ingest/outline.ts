// Outline of the ingest role for every process of the site: its settings and listener.
import { outline as outlineOf } from '../../kernel/role/role.ts'
import { listener, settings } from './settings.ts'

export const outline = outlineOf({
  name: 'ingest',
  purpose: 'Takes data in: pipelines, their connections and schedules, on a workflow scheduler or without one',
  listeners: [listener],
  serves: 'tenants',
  api_prefix: '/userspace',
  needs: ['site'],
  settings: [settings],
  takes: { dataset: 'commutes' },
  load: async () => (await import('./role.ts')).ingest,
})
