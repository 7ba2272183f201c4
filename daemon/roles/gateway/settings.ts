// Settings of the gateway role: its listener, and the registry of services.
import * as z from 'zod'
import { parseTrustedNetwork } from '../../kernel/network/special-addresses.ts'
import { type ListenerDeclaration, serviceListenerFields } from '../../kernel/settings/listener-settings.ts'
import { toolFields, traceFields } from '../../kernel/settings/platform-settings.ts'
import { settingsBlock } from '../../kernel/settings/settings.ts'
import { serviceName, serviceOrigin } from '../../shared/routing/ingress-settings.ts'

export const listener: ListenerDeclaration<''> = { prefix: '', env: 'GATEWAY', port: 8_001 }

const network = z
  .string()
  .refine(
    (text) => parseTrustedNetwork(text) !== undefined,
    'must be a network such as 10.1.2.0/24, of 8 bits or more, or one address',
  )

export const settings = settingsBlock('gateway', {
  ...serviceListenerFields(listener),
  ...traceFields('GATEWAY'),
  ...toolFields('GATEWAY'),
  allowed_networks: z.array(network).max(256).default(['127.0.0.0/8', '::1/128']).meta({
    doc: 'Networks in which registered services may be; the gateway connects to no other address. Only in the profile, not by environment.',
  }),
  registrants: z.record(serviceName, z.string().min(1).max(256)).default({}).meta({
    doc: 'The only token subject that may register a service, by the name of the service; needed for the services of the platform, unless the client of the site (sso.client_id) registers them.',
  }),
  services: z.array(serviceOrigin).max(256).default([]).meta({
    env: 'GATEWAY_SERVICES',
    doc: 'URLs (scheme, host, port) of services that the gateway registers by itself, as long as they answer.',
  }),
  pull_interval_s: z.int().min(1).max(3_600).default(30).meta({
    env: 'GATEWAY_PULL_INTERVAL_SECONDS',
    doc: 'Interval at which it reads the service-info of those; a service is dropped three intervals after its last answer.',
  }),
  max_services: z.int().min(1).max(1_000).default(1_000).meta({
    doc: 'Maximum number of registered services; the profile’s own, in registrants and services, always have a place.',
  }),
  ca_file: z.string().min(1).max(4_096).optional().meta({
    env: 'GATEWAY_SERVICES_CA_FILE',
    doc: 'Authorities (PEM) for the TLS certificates of services, instead of the machine’s.',
  }),
})
