// Settings of requests between roles on several machines: where each role is, and how its certificate is verified.
import * as z from 'zod'
import { settingsBlock } from './settings.ts'

const roleName = z.string().regex(/^[a-z][a-z0-9-]{0,62}$/, 'must be the name of a role')

/** Scheme, host and port alone, over TLS. */
const roleUrl = z
  .url({ protocol: /^https$/, error: 'must begin with https://, since roles on other machines authenticate by TLS' })
  .max(2_048)
  .refine(
    (url) => /^https:\/\/(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?\/?$/i.test(url),
    'must have a host and a port, and no path, credentials, query or fragment',
  )
  .transform((url) => url.replace(/\/$/, ''))

export const roleCallSettings = settingsBlock('role_calls', {
  urls: z.record(roleName, roleUrl).default({}).meta({
    env: 'PLATFORM_ROLE_URLS',
    doc: 'URL (https) of each role that another machine runs, by its name; they go before ingress.intelligence_url and ingress.entity_resolution_url. Other roles are reached in this process or at their local sockets.',
  }),
  ca_file: z.string().min(1).optional().meta({
    env: 'PLATFORM_ROLE_CA_FILE',
    doc: 'Authorities (PEM) of the servers behind these URLs, which must then have a certificate for the host name; certificates of roles need none.',
  }),
  accept_certificates: z.boolean().default(false).meta({
    env: 'PLATFORM_ROLE_ACCEPT_CERTIFICATES',
    doc: 'Whether the TLS listeners of this profile admit roles on other machines by their certificates; these listeners then have TLS 1.3 alone.',
  }),
  lists_max_age_s: z.int().min(30).max(86_400).default(120).meta({
    env: 'PLATFORM_ROLE_LISTS_MAX_AGE_S',
    doc: 'Where another machine runs the role site: age of the fetched lists of token keys and revocations at which tokens get 503.',
  }),
})
