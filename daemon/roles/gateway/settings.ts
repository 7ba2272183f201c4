// Settings of the gateway role: its listener, and the registry of services.
import * as z from 'zod'
import { type ListenerDeclaration, serviceListenerFields } from '../../kernel/settings/listener-settings.ts'
import { toolFields, traceFields } from '../../kernel/settings/platform-settings.ts'
import { settingsBlock } from '../../kernel/settings/settings.ts'
import { serviceName, serviceOrigin } from '../../shared/routing/ingress-settings.ts'
import { stdioServer } from './stdio-server/model.ts'

/** Each may run at a time, with all of its memory. */
const max_stdio_servers = 32

export const listener: ListenerDeclaration<''> = { prefix: '', env: 'GATEWAY', port: 8_001 }

export const settings = settingsBlock('gateway', {
  ...serviceListenerFields(listener),
  ...traceFields('GATEWAY', 'GUIDE'),
  ...toolFields('GATEWAY'),
  trusted_proxy_depth: z.int().min(0).max(32).default(0).meta({
    env: 'GATEWAY_TRUSTED_PROXY_DEPTH',
    doc: 'Number of trusted hops before the gateway that append to X-Forwarded-For, such as 1 behind the edge; 0: what clients send is dropped.',
  }),
  max_body_bytes: z
    .int()
    .min(0)
    .max(1_099_511_627_776)
    .default(1_073_741_824)
    .meta({ doc: 'Maximum size of the body of a request that the gateway forwards; a larger one gets 413.' }),
  exchanges_per_caller: z.int().min(1).max(100_000).default(128).meta({
    doc: 'Maximum number of forwarded requests of one caller under way, streams and WebSocket included; a further one gets 429.',
  }),
  answer_s: z.int().min(1).max(86_400).default(620).meta({
    doc: 'Seconds that a service may take before its answer to a forwarded request begins.',
  }),
  idle_s: z.int().min(1).max(86_400).default(60).meta({
    doc: 'Seconds without a byte after which a forwarded answer, event stream or WebSocket is ended.',
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
  tool_call_s: z.int().min(1).max(600).default(30).meta({
    env: 'GATEWAY_TOOL_CALL_SECONDS',
    doc: 'Seconds that a registered service may take for the call of one of its tools, or the read of a resource; above 30, a caller has a smaller share of calls at once.',
  }),
  stdio_servers: z
    .record(serviceName, stdioServer)
    .default({})
    .refine(
      (servers) => Object.keys(servers).length <= max_stdio_servers,
      `at most ${max_stdio_servers} servers may be run`,
    )
    .meta({
      doc: 'Tool servers that speak MCP over standard input and output, by name: the gateway runs them in the sandbox, and offers their accepted tools.',
    }),
  max_services: z.int().min(1).max(1_000).default(1_000).meta({
    doc: 'Maximum number of registered services; the profile’s own, in registrants and services, always have a place.',
  }),
  max_tools: z.int().min(1).max(2_000).default(2_000).meta({
    doc: 'Maximum number of accepted tools and resources of registered services.',
  }),
  ca_file: z.string().min(1).max(4_096).optional().meta({
    env: 'GATEWAY_SERVICES_CA_FILE',
    doc: 'Authorities (PEM) for the TLS certificates of services, instead of the machine’s.',
  }),
})
