// Outline of the proxy role for every process of the site.

import { outline as outlineOf } from '../../kernel/role/role.ts'
import { keyValueSettings } from '../../kernel/settings/backing-service-settings.ts'
import { listener, settings } from './settings.ts'

export const outline = outlineOf({
  name: 'proxy',
  purpose: 'Forwards allowlisted anonymous requests to the platform, rate-limited, with its own token',
  listeners: [listener],
  has_public_listener: true,
  serves: 'site',
  api_prefix: '/api/v2',
  needs: [],
  settings: [settings, keyValueSettings],
  takes: {},
  load: async () => (await import('./role.ts')).proxy,
})
