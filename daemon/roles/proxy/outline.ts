// The proxy role as every process of the site knows it: the one door for callers without a token.

import { outline as outlineOf } from '../../kernel/role/role.ts'
import { keyValueSettings } from '../../kernel/settings/backing-service-settings.ts'
import { settings } from './settings.ts'

export const outline = outlineOf({
  name: 'proxy',
  purpose: 'Lets anonymous requests through to the platform: listed ones alone, limited, with a token of its own',
  port: 8012,
  serves: 'site',
  api_prefix: '/api/v2',
  needs: [],
  settings: [settings, keyValueSettings],
  takes: [],
  load: async () => (await import('./role.ts')).proxy,
})
