// Settings of the registration of roles with the gateway of the network.
import * as z from 'zod'
import { settingsBlock } from './settings.ts'

/** `agent`: a service that takes guidance with the calls of its tools; `library`: one that does not. */
export const componentKinds = ['agent', 'library'] as const
export type ComponentKind = (typeof componentKinds)[number]

/** With credentials, a query or a fragment, paths could not be added to it. */
const baseUrl = z
  .url({ protocol: /^https?$/ })
  .max(2_048)
  .refine((url) => !/[@?#]/.test(url), 'must not contain credentials, a query or a fragment')
  .transform((url) => url.replace(/\/+$/, ''))

export const gatewayClientSettings = settingsBlock('gateway_client', {
  url: baseUrl.default('http://localhost:8001').meta({
    env: 'GATEWAY_URL',
    doc: 'Base URL of the gateway that roles with a `public_url` register with.',
  }),
  ttl_s: z.int().min(10).max(86_400).default(300).meta({
    env: 'GATEWAY_TTL_SECONDS',
    doc: 'Lifetime of a registration, in seconds; it is renewed after half of it.',
  }),
  ca_file: z.string().min(1).max(4_096).optional().meta({
    env: 'GATEWAY_CA_FILE',
    doc: 'Authorities (PEM) for the TLS certificate of the gateway, instead of the machine’s.',
  }),
  deregisters: z.boolean().default(true).meta({
    env: 'GATEWAY_DEREGISTER',
    doc: 'Whether a role that stops ends its registration; false where several processes share one `public_url`.',
  }),
})

/** Settings of a role that may register; the block of the role spreads them in. */
export function registrationFields(prefix: string) {
  return {
    public_url: baseUrl.optional().meta({
      env: `${prefix}_PUBLIC_URL`,
      doc: 'URL at which the gateway reaches this role; with it, the role registers with gateway_client.url (default: it does not).',
    }),
    component_kind: z
      .enum(['agent', 'library'])
      .default('library')
      .meta({
        env: `${prefix}_COMPONENT_KIND`,
        doc: 'What the role is to the gateway: only an agent takes guidance with calls of its tools.',
      }),
  }
}

/** Of a role that may register; of another role it does not parse, such as of one with a `public_url` of another meaning. */
export const registrationValues = z.looseObject({
  public_url: z.string(),
  component_kind: z.enum(componentKinds),
})
