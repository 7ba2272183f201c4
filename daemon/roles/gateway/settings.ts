// Settings of the gateway role: its listener.
import { type ListenerDeclaration, serviceListenerFields } from '../../kernel/settings/listener-settings.ts'
import { toolFields, traceFields } from '../../kernel/settings/platform-settings.ts'
import { settingsBlock } from '../../kernel/settings/settings.ts'

export const listener: ListenerDeclaration<''> = { prefix: '', env: 'GATEWAY', port: 8_001 }

export const settings = settingsBlock('gateway', {
  ...serviceListenerFields(listener),
  ...traceFields('GATEWAY'),
  ...toolFields('GATEWAY'),
})
