// Outline of the consensus role for every process of the site: its settings and the messages that it accepts.

import { outline as outlineOf } from '../../kernel/role/role.ts'
import { coalitionSettings } from '../../shared/coalition/coalition-settings.ts'
import { listener, settings } from './settings.ts'

export const outline = outlineOf({
  name: 'consensus',
  purpose: 'Hosts multi-contributor consensus sessions with quorum, dissent and evidence',
  listeners: [listener],
  serves: 'tenants',
  api_prefix: '/api/v2',
  coalition_offer: { hosts: ['consensus_session'], capabilities: ['consensus-session', 'federation-contribution'] },
  tool_profiles: ['single_cluster', 'multi_tenant_cloud'],
  needs: ['site'],
  settings: [settings, coalitionSettings],
  // The same set of contributions gives the same result to the bit; the other kinds report a state.
  takes: { invitation: 'ordered', contribution: 'commutes', result: 'ordered', lens_emission: 'ordered' },
  signs: ['evidence'],
  load: async () => (await import('./role.ts')).consensus,
})
