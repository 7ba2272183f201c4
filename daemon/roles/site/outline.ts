// Outline of the site role for every process of the site: its settings and the messages that it accepts.

import { controlKinds } from '../../kernel/messaging/message-kind.ts'
import { outline as outlineOf } from '../../kernel/role/role.ts'
import { keyValueSettings } from '../../kernel/settings/backing-service-settings.ts'
import { coalitionSettings } from '../../shared/coalition/coalition-settings.ts'
import { amqpSettings, mtlsSettings } from './carrier-settings.ts'
import { filedropSettings, listener, settings } from './settings.ts'

export const outline = outlineOf({
  name: 'site',
  purpose: 'Owns the site’s keys, peers, channels, token issuer, audit checkpoints and backups',
  listeners: [listener],
  serves: 'site',
  keeps_audit_anchors: true,
  owns_site_files: true,
  api_prefix: '/api/v2',
  needs: [],
  settings: [settings, filedropSettings, mtlsSettings, amqpSettings, coalitionSettings, keyValueSettings],
  takes: { keys: controlKinds.keys, inventory: controlKinds.inventory },
  load: async () => (await import('./role.ts')).site,
})
