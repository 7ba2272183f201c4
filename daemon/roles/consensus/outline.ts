// The consensus role as every process of the site knows it: what may be set, and which messages it takes.

import { outline as outlineOf } from '../../kernel/role/role.ts'
import { coalitionSettings } from '../../shared/coalition/coalition-settings.ts'
import { settings } from './settings.ts'

export const outline = outlineOf({
  name: 'consensus',
  purpose: 'Hosts multi-contributor consensus sessions with quorum, dissent and evidence',
  port: 8400,
  serves: 'tenants',
  api_prefix: '/api/v2',
  needs: ['site'],
  settings: [settings, coalitionSettings],
  takes: ['invitation', 'contribution', 'result', 'lens_emission'],
  load: async () => (await import('./role.ts')).consensus,
})
