// The outline of the resolution role: the settings and messages that every process of the site knows.

import { outline as outlineOf } from '../../kernel/role/role.ts'
import { keyValueSettings } from '../../kernel/settings/backing-service-settings.ts'
import { cryptographySettings } from '../../kernel/settings/cryptography-settings.ts'
import { listener, settings } from './settings.ts'

export const outline = outlineOf({
  name: 'resolution',
  purpose: 'Entity resolution: lenses, runs, matches and clusters',
  listeners: [listener],
  serves: 'tenants',
  index_family: 'fusion',
  api_prefix: '/api/v2',
  needs: ['site'],
  settings: [settings, keyValueSettings, cryptographySettings],
  takes: { resolution: 'ordered' },
  signs: ['registry'],
  load: async () => (await import('./role.ts')).resolution,
})
