// Settings of the edge role: its two listeners, their TLS, and the limits of what it forwards.
import * as z from 'zod'
import {
  type ListenerDeclaration,
  listenerFields,
  serviceListenerFields,
} from '../../kernel/settings/listener-settings.ts'
import { traceFields } from '../../kernel/settings/platform-settings.ts'
import { settingsBlock } from '../../kernel/settings/settings.ts'

export const listener: ListenerDeclaration<''> = { prefix: '', env: 'EDGE', port: 8_443 }
export const plainListener: ListenerDeclaration<'http_'> = { prefix: 'http_', env: 'EDGE_HTTP', port: 8_080 }

const certificateHost = z
  .string()
  .regex(/^(\*\.)?[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/, 'must be a DNS name in lower case, or *. before one')

const hostCertificate = z.strictObject({
  hosts: z.array(certificateHost).min(1).max(64).meta({ description: 'Names; *.a.example is any one label before it' }),
  cert_file: z.string().min(1).meta({ description: 'Certificate chain (PEM)' }),
  key_file: z.string().min(1).meta({ description: 'Its private key (PEM)' }),
})

export const settings = settingsBlock('edge', {
  ...serviceListenerFields(listener),
  ...listenerFields(plainListener),
  ...traceFields('EDGE'),
  tls_min_version: z.enum(['1.2', '1.3']).default('1.3').meta({
    env: 'EDGE_TLS_MIN_VERSION',
    doc: 'Oldest version of TLS that the listeners accept.',
  }),
  certificates: z.array(hostCertificate).max(100).default([]).meta({
    doc: 'Certificates of further host names (SNI); other names get that of tls_cert_file.',
  }),
  tls_reload_s: z.int().min(1).max(86_400).default(60).meta({
    doc: 'Seconds between two looks at the files of certificates; a changed pair serves the connections that follow.',
  }),
  http_redirect: z.boolean().default(true).meta({
    env: 'EDGE_HTTP_REDIRECT',
    doc: 'Whether the plain listener sends GET and HEAD to https and refuses other methods; without TLS at the first listener it always forwards.',
  }),
  https_port: z.int().min(1).max(65_535).optional().meta({
    env: 'EDGE_HTTPS_PORT',
    doc: 'Port of https in those redirects, where clients reach it at another one than edge.port.',
  }),
  trusted_proxy_depth: z.int().min(0).max(32).default(0).meta({
    env: 'EDGE_TRUSTED_PROXY_DEPTH',
    doc: 'Number of trusted hops before the edge that append to X-Forwarded-For; further entries are dropped, with 0 all that clients send.',
  }),
  backend_ca_file: z.string().min(1).optional().meta({
    env: 'EDGE_BACKEND_CA_FILE',
    doc: 'Authorities (PEM) of services that are reached over https; default: those of Node.',
  }),
  connections: z.int().min(16).max(100_000).default(10_000).meta({
    doc: 'Maximum number of connections of clients at a listener; the oldest idle one makes room.',
  }),
  exchanges_per_peer: z.int().min(1).max(100_000).default(256).meta({
    doc: 'Maximum number of requests of one client address under way, streams and WebSocket included; a further one gets 429.',
  }),
  backend_connections: z.int().min(1).max(65_535).default(1_024).meta({
    doc: 'Maximum number of connections to one process of a service; further requests wait.',
  }),
  max_header_bytes: z.int().min(4_096).max(65_536).default(16_384).meta({
    doc: 'Maximum size of the request line and header fields together; larger ones get 431.',
  }),
  max_body_bytes: z.int().min(0).max(Number.MAX_SAFE_INTEGER).default(1_073_741_824).meta({
    doc: 'Maximum size of the body of a request; a larger one gets 413. Services have limits of their own.',
  }),
  idle_s: z.int().min(1).max(86_400).default(60).meta({
    doc: 'Seconds without a byte after which a response, an event stream or a WebSocket is ended, and a connection between requests.',
  }),
  answer_s: z.int().min(1).max(86_400).default(620).meta({
    doc: 'Seconds that a service may take before its response begins.',
  }),
  probe_interval_s: z.int().min(1).max(86_400).default(5).meta({
    doc: 'Seconds between two probes of each process of a service, at its /health.',
  }),
  reuse_port: z.boolean().default(false).meta({
    env: 'EDGE_REUSE_PORT',
    doc: 'Whether several processes may listen on the ports of the edge, such as the old and the new one of a rolling restart (Linux).',
  }),
  access_log: z.boolean().default(true).meta({
    env: 'EDGE_ACCESS_LOG',
    doc: 'Whether each request is a line of the log, with its path but without query, token and cookie.',
  }),
})
