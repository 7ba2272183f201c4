// Outline of the gateway role for every process of the site: its settings and listener.
import { outline as outlineOf } from '../../kernel/role/role.ts'
import { agentspace_host } from '../../shared/routing/routed-services.ts'
import { chatSettings } from './chat/settings.ts'
import { guardrailSettings } from './guardrail/settings.ts'
import { guideSettings } from './guide/settings.ts'
import { listener, settings } from './settings.ts'

export const outline = outlineOf({
  name: 'gateway',
  purpose:
    'Keeps the services of the network and their objects, offers their tools, answers chat, and holds calls to guardrails',
  listeners: [listener],
  serves: 'tenants',
  tool_hosts: [agentspace_host],
  api_prefix: '/api/v2/gateway',
  needs: ['site'],
  signs: ['guidance-set'],
  settings: [settings, guardrailSettings, chatSettings, guideSettings],
  takes: {},
  load: async () => (await import('./role.ts')).gateway,
})
