// Settings of the site as a whole.
import * as z from 'zod'
import { deploymentProfiles } from '../role/site.ts'
import { type TracePolicy, traceModes } from '../telemetry/trace-policy.ts'
import { logLevel } from './listener-settings.ts'
import { settingsBlock } from './settings.ts'

const name = z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'must be lower-case letters, digits and hyphens, at most 63')
const word = z.string().min(1).max(64)
/** A Unix account: a name, or the number of an account that only a directory service knows. Root is refused. */
const account = z.union([z.string().regex(/^[A-Za-z_][\w.-]{0,31}\$?$/), z.int().min(1).max(4_294_967_294)])

export const platformSettings = settingsBlock('platform', {
  deployment_profile: z.enum(deploymentProfiles).default('classified_airgapped').meta({
    env: 'PLATFORM_DEPLOYMENT_PROFILE',
    doc: 'Kind of deployment and its profile: single_cluster and multi_tenant_cloud (A), customer_onprem (B), coalition_federated (C), classified_airgapped (D).',
  }),
  name: name.meta({ env: 'PLATFORM_SITE_NAME', doc: 'Name of the site, by which peers address it.' }),
  tenant_id: z
    .string()
    .min(1)
    .max(128)
    .meta({ env: 'PLATFORM_TENANT_ID', doc: 'Tenant that the site itself belongs to.' }),
  roles: z.array(word).min(1).default(['site', 'consensus']).meta({
    env: 'PLATFORM_ROLES',
    doc: 'Roles that `platform serve` runs if none is named.',
  }),
  os_group: account.optional().meta({
    doc: 'Unix group of the users of the roles, one user for each role; absent: the site belongs to one user.',
  }),
  os_users: z.record(word, account).default({}).meta({
    doc: 'With os_group: Unix user of each role; `platform site divide` gives each user its files.',
  }),
  log_level: logLevel.default('info').meta({
    env: 'LOG_LEVEL',
    doc: 'Lowest severity that is logged.',
  }),
  drain_ms: z.int().min(0).max(600_000).default(10_000).meta({
    env: 'PLATFORM_DRAIN_MS',
    doc: 'Time that a stop waits for active requests.',
  }),
})

export const labelSettings = settingsBlock('labels', {
  policy: word.default('SITE').meta({ doc: 'Labelling policy of this site.' }),
  levels: z
    .array(word)
    .min(1)
    .max(32)
    .default(['UNCLASSIFIED', 'RESTRICTED', 'CONFIDENTIAL', 'SECRET', 'TOP_SECRET'])
    .meta({
      doc: 'Levels of the policy, lowest first.',
    }),
  default_level: word.default('UNCLASSIFIED').meta({ doc: 'Level of data that is created without a label.' }),
})

export const identitySettings = settingsBlock('identity', {
  provider: z.enum(['offline', 'oidc']).default('offline').meta({
    env: 'AUTH_PROVIDER',
    doc: 'Accepted tokens: offline, those of the site’s own issuer; oidc, also those of the identity provider in sso.',
  }),
  clock_skew_s: z.int().min(0).max(300).default(60).meta({ doc: 'Tolerance for the times of tokens.' }),
  keys_passphrase_file: z.string().min(1).optional().meta({
    env: 'PLATFORM_KEYS_PASSPHRASE_FILE',
    doc: 'File (0600, or a systemd credential) with the passphrase of the site’s private keys; see keys wrap.',
  }),
  token_ttl_s: z.int().min(60).max(86_400).default(3_600).meta({ doc: 'Lifetime of a token from the token endpoint.' }),
  roles: z
    .record(word, z.array(z.string().regex(/^[a-z_]+:[a-z_*]+$/, 'must be noun:verb or noun:*')).max(128))
    .default({})
    .meta({
      doc: 'Roles besides the built-in ones, each with its permissions.',
    }),
  clients: z
    .array(
      z.strictObject({
        client_id: word,
        secret_file: z.string().min(1),
        subject: z
          .string()
          .min(1)
          .max(256)
          .refine(
            (subject) => !subject.startsWith('role:'),
            'must not begin with role:, which is reserved for the site’s own services',
          )
          .optional(),
        tenant_id: z.string().min(1).max(128).optional(),
        roles: z.array(word).max(32).default([]),
        clearance: z
          .strictObject({ level: word, categories: z.array(word).default([]), nationality: word.optional() })
          .optional(),
        may_exchange: z.boolean().default(false),
      }),
    )
    .max(256)
    .default([])
    .meta({ doc: 'OAuth clients of the site’s token endpoint; each secret is in its own file (0600).' }),
  audiences: z
    .record(
      z
        .string()
        .min(1)
        .max(256)
        .refine(
          (audience) => !audience.startsWith('urn:platform:'),
          'must not begin with urn:platform:, which names sites and their roles',
        ),
      z.array(word).min(1).max(32),
    )
    .default({})
    .meta({
      doc: 'Services outside the site, by the audience that each expects, with the roles that may request tokens for it in the name of a caller.',
    }),
  grant_days: z.int().min(1).max(3_650).default(90).meta({
    doc: 'Days for which a role may act for the principal of stored work, such as a schedule, after the work was stored.',
  }),
})

const httpUrl = z.url({ protocol: /^https?$/ })
const hostName = z
  .string()
  .regex(/^(\[[0-9a-f:.]+\]|[a-z0-9.-]+)$/, 'must be a host name in lower case, without a port')

/** Settings of a role that offers tools to AI clients; the block of the role spreads them in. */
export function toolFields(prefix: string) {
  return {
    mcp_enabled: z
      .boolean()
      .optional()
      .meta({
        env: `${prefix}_MCP_ENABLED`,
        nested: 'mcp.enabled',
        doc: 'Whether AI clients may call the role’s tools at /agentspace (default: true in profiles A, B and C, false in D).',
      }),
    domain: hostName.default('localhost').meta({
      env: `${prefix}_DOMAIN`,
      doc: 'Public DNS name of the role, allowed in requests to /agentspace.',
    }),
    mcp_url: httpUrl.optional().meta({
      env: `${prefix}_MCP_URL`,
      doc: 'Scheme, host and port at which AI clients reach the listener through a reverse proxy.',
    }),
    mcp_hosts: z.array(hostName).max(64).default([]).meta({
      env: 'MCP_EXTRA_HOSTS',
      doc: 'Host names allowed in requests to /agentspace, besides localhost, domain, the listener’s address, that of mcp_url and the role’s documented names.',
    }),
    mcp_origins: z
      .array(z.string().regex(/^https?:\/\/[^/]+$/, 'must be an origin such as https://console.example'))
      .max(64)
      .default([])
      .meta({
        env: `${prefix}_MCP_ORIGINS`,
        doc: 'Web origins whose pages may call /agentspace, besides its own; others are refused.',
      }),
    mcp_authorization_servers: z
      .array(httpUrl)
      .max(8)
      .default([])
      .meta({
        env: `${prefix}_MCP_AUTHORIZATION_SERVERS`,
        doc: 'Issuers that AI clients are referred to for a token (default: the site’s own issuer).',
      }),
    mcp_sessions_per_caller: z.int().min(1).max(1_000).default(16).meta({
      doc: 'Maximum number of MCP sessions of one caller; a further one ends the least recently used one.',
    }),
    mcp_session_idle_s: z.int().min(10).max(86_400).default(1_800).meta({
      doc: 'Time after which an unused MCP session ends; every session ends after a day.',
    }),
  }
}

/** Also true (require) and false (adopt): the values of `<prefix>_REQUIRE_TRACEPARENT`. */
const traceMode = z.union([
  z.enum(traceModes),
  z.boolean().transform((isRequired): TracePolicy['mode'] => (isRequired ? 'require' : 'adopt')),
])

/**
 * How the TCP listener of a role treats the traces of its callers; the block of the role spreads these settings in.
 * `documented`: the prefix of the same variables in the interface documents, where it is another one.
 */
export function traceFields(prefix: string, documented = prefix) {
  const prefixes = [...new Set([documented, prefix])]
  return {
    trace_mode: traceMode.default('adopt').meta({
      env: prefixes.flatMap((each) => [`${each}_TRACE_MODE`, `${each}_REQUIRE_TRACEPARENT`]),
      doc: 'adopt: continue the trace of a valid header. ignore: begin one for each request. require: refuse a request without a valid header (400).',
    }),
    trace_header: z
      .string()
      // Answers carry it: under any other name it would replace a header of HTTP, such as content-length.
      .regex(
        /^(?!tracestate$)(?=.*trace)[a-z0-9-]{1,64}$/,
        'must be the name of a header of traces in lower case, such as traceparent or x-trace-id',
      )
      .default('traceparent')
      .meta({
        env: prefixes.map((each) => `${each}_TRACE_HEADER`),
        doc: 'Header with the trace of a request, and of its response.',
      }),
  }
}
