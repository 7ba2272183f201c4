// The outline of the intelligence role for every process of the site: settings and listener.
import { outline as outlineOf } from '../../kernel/role/role.ts'
import { listener, settings } from './settings.ts'
import { intakeSettings } from './signal-intake/settings.ts'

export const outline = outlineOf({
  name: 'intelligence',
  purpose: 'Stores signals, the insights that investigate them, and the ledger of each insight',
  listeners: [listener],
  serves: 'tenants',
  api_prefix: '/api/v1',
  needs: ['site'],
  settings: [settings, intakeSettings],
  takes: { signal: 'ordered' },
  // The host of AI clients inside a cluster, which leads here while no gateway serves it.
  tool_hosts: ['agentspace.cluster.local'],
  load: async () => (await import('./role.ts')).intelligence,
})
