// Settings of the proxy role: those of the interface, and limits that protect the upstream.
import * as z from 'zod'
import { parseTrustedNetwork } from '../../kernel/network/special-addresses.ts'
import { type ListenerDeclaration, serviceListenerFields } from '../../kernel/settings/listener-settings.ts'
import { settingsBlock } from '../../kernel/settings/settings.ts'
import { formatRuleFault, parseAllowlist } from './allowlist/rule.ts'
import { findOriginFault } from './platform-origin.ts'

const max_faults = 8
const secondsField = (smallest: number, largest: number) => z.int().min(smallest).max(largest)
const withMessage = (message: string) => ({ error: message })

const allowlist = z
  .union([
    z.string(),
    z
      .array(z.string().max(4_096))
      .max(10_000)
      .transform((rules) => rules.join('\n')),
  ])
  .superRefine((text, context) => {
    for (const fault of parseAllowlist(text).faults.slice(0, max_faults)) {
      context.addIssue({ code: 'custom', message: `ALLOWLIST, ${formatRuleFault(fault)}` })
    }
  })

const platformUrl = z.string().superRefine((url, context) => {
  const message = findOriginFault(url)
  if (message) context.addIssue({ code: 'custom', message: `PLATFORM_API_URL ${message}` })
})

const pathPrefix = z
  .string()
  .regex(
    /^(\/(?!\.{1,2}(\/|$))[A-Za-z0-9._~-]+)+\/?$/,
    'PUBLIC_PATH_PREFIX must be a path such as /public-api: segments of letters, digits and . _ ~ -, each after one slash',
  )
  .transform((path) => path.replace(/\/$/, ''))

const isTrustable = (text: string) => parseTrustedNetwork(text) !== undefined

const booleanFlag = z.union([z.boolean(), z.string().transform((text) => !/^(|0|false|no|off)$/i.test(text.trim()))])

export const listener: ListenerDeclaration<''> = { prefix: '', env: 'PROXY', port: 8_012 }

export const settings = settingsBlock('proxy', {
  ...serviceListenerFields(listener),
  platform_api_url: platformUrl.optional().meta({
    env: 'PLATFORM_API_URL',
    doc: 'Platform REST endpoint for allowed requests, such as https://platform.example; the role does not start without it.',
  }),
  platform_api_ca_file: z.string().min(1).optional().meta({
    env: 'PLATFORM_API_CA_FILE',
    doc: 'Authorities (PEM) for its TLS certificate, instead of the machine’s.',
  }),
  public_path_prefix: pathPrefix.default('/public-api').meta({
    env: 'PUBLIC_PATH_PREFIX',
    doc: 'Prefix of public paths, removed before the rest is matched and forwarded.',
  }),
  public_sso_client_id: z.string().min(1).max(256).optional().meta({
    env: 'PUBLIC_SSO_CLIENT_ID',
    doc: 'Limited client whose token is used for forwarded requests; never the platform’s own (sso.client_id).',
  }),
  public_sso_client_secret: z.string().min(1).max(1_024).optional().meta({
    env: 'PUBLIC_SSO_CLIENT_SECRET',
    secret: true,
    doc: 'Its secret.',
  }),
  allowlist: allowlist.default('').meta({
    env: 'ALLOWLIST',
    doc: 'Allowed requests: METHOD /path [limit=N] [cache=S], one per line or separated by commas, or a list. GET, HEAD, POST; {name} is one segment, /* at the end a subtree.',
  }),
  rate_limit_per_min: z
    .int()
    .min(1, withMessage('RATE_LIMIT_PER_MIN must be 1 or more'))
    .max(1_000_000)
    .default(60)
    .meta({ env: 'RATE_LIMIT_PER_MIN', doc: 'Requests served per source and minute; a further one gets 429.' }),
  write_rate_limit_per_min: z
    .int()
    .min(1, withMessage('WRITE_RATE_LIMIT_PER_MIN must be 1 or more'))
    .max(1_000_000)
    .default(10)
    .meta({
      env: 'WRITE_RATE_LIMIT_PER_MIN',
      doc: 'POST requests served per source and minute; a further one gets 429.',
    }),
  write_max_body_bytes: z
    .int()
    .min(0)
    .max(16_777_216)
    .default(65_536)
    .meta({ env: 'WRITE_MAX_BODY_BYTES', doc: 'Maximum size of the body of a POST; a larger one gets 413.' }),
  trusted_proxy_depth: z
    .int(withMessage('TRUSTED_PROXY_DEPTH must be a whole number, 1 or more'))
    .min(
      1,
      withMessage('TRUSTED_PROXY_DEPTH must be 1 or more: the number of trusted hops that append to X-Forwarded-For'),
    )
    .max(32)
    .optional()
    .meta({
      env: 'TRUSTED_PROXY_DEPTH',
      doc: 'Number of trusted hops before the proxy that append to X-Forwarded-For; the role does not start without it.',
    }),
  ipv6_prefix: z
    .int()
    .min(32)
    .max(128)
    .default(64)
    .meta({ doc: 'Prefix length by which IPv6 sources are counted: a household has a network, not an address.' }),
  cors_allow_origin: z
    .string()
    .regex(
      /^(\*|https?:\/\/[A-Za-z0-9.:[\]-]+)$/,
      'CORS_ALLOW_ORIGIN must be * or an origin such as https://city.example',
    )
    .default('*')
    .meta({ env: 'CORS_ALLOW_ORIGIN', doc: 'Value of Access-Control-Allow-Origin on every response.' }),
  cache_max_mb: z
    .int()
    .min(0)
    .max(65_536)
    .default(0)
    .meta({ env: 'CACHE_MAX_MB', doc: 'Size of the answer cache of each worker, in MB; 0: no cache.' }),
  cache_ttl_s: z
    .int()
    .min(0)
    .max(86_400)
    .default(60)
    .meta({ env: 'CACHE_TTL_S', doc: 'Maximum time for which an answer is cached.' }),
  edge_node: booleanFlag.default(false).meta({
    env: 'EDGE_NODE',
    doc: 'Must be false: an edge node has no shared counters, so nothing would be limited. With true the role does not start.',
  }),
  trusted_networks: z
    .array(z.string().refine(isTrustable, 'must be a network such as 10.1.2.0/24, of 8 bits or more, or one address'))
    .max(256)
    .default([])
    .meta({
      doc: 'Private networks that PLATFORM_API_URL and SSO_TOKEN_URL may resolve to; only in the profile, not by environment.',
    }),
  workers: z
    .int()
    .min(1)
    .max(256)
    .optional()
    .meta({ env: 'PROXY_WORKERS', doc: 'Number of serving threads (default: the number of cores).' }),
  max_target_bytes: z
    .int()
    .min(256)
    .max(65_536)
    .default(8_192)
    .meta({ doc: 'Maximum length of path and query; a longer one gets 404.' }),
  max_header_bytes: z
    .int()
    .min(2_048)
    .max(131_072)
    .default(16_384)
    .meta({ doc: 'Maximum length of the head of a request; a longer one gets 431.' }),
  header_timeout_s: secondsField(1, 120).default(10).meta({ doc: 'Time limit for the complete head of a request.' }),
  body_timeout_s: secondsField(1, 600)
    .default(30)
    .meta({ doc: 'Time limit for the complete request, including its body.' }),
  min_body_bytes_per_s: z
    .int()
    .min(0)
    .max(1_048_576)
    .default(256)
    .meta({ doc: 'Minimum rate of a body, after its first seconds; 0: no limit.' }),
  min_answer_bytes_per_s: z
    .int()
    .min(0)
    .max(1_048_576)
    .default(8_192)
    .meta({ doc: 'Minimum rate at which a caller must read a waiting answer, after 15 s; 0: no limit.' }),
  keep_alive_s: secondsField(1, 600).default(65).meta({ doc: 'Time that a connection of a caller may stay idle.' }),
  max_connections: z.int().min(1).max(1_000_000).default(10_000).meta({
    doc: 'Maximum number of connections of a worker; a further one ends the oldest without a request, or is closed.',
  }),
  upstream_connections: z
    .int()
    .min(1)
    .max(10_000)
    .default(128)
    .meta({ doc: 'Maximum number of upstream connections of a worker; further requests wait for one.' }),
  connect_timeout_s: secondsField(1, 60).default(5).meta({ doc: 'Time limit for connecting to the upstream.' }),
  answer_timeout_s: secondsField(1, 600)
    .default(30)
    .meta({ doc: 'Time limit for the first byte of an upstream answer, and for each later one.' }),
  trace_ratio: z.number().min(0).max(1).default(0).meta({
    env: 'PROXY_TRACE_RATIO',
    doc: 'Share of public requests with spans, where the section traces enables these; 0: none. At most 100 requests a second, over all workers.',
  }),
  trace_mode: z.enum(['ignore', 'adopt']).default('ignore').meta({
    env: 'PROXY_TRACE_MODE',
    doc: 'ignore: each sampled request begins a trace. adopt: a valid traceparent is continued, and its flag decides; only behind a hop that sets it. With trace_ratio 0 neither has an effect.',
  }),
  audit_keep_days: z.int().min(1).max(36_500).default(90).meta({
    doc: 'Days for which the audit records of public requests are kept in the store.',
  }),
  audit_journal_mb: z.int().min(1).max(1_048_576).default(1_024).meta({
    doc: 'Maximum size of audit records that wait for the store, in MB; records beyond it are lost, logged and counted.',
  }),
})
