// Settings of identities besides the site's own issuer: an identity provider, and holders of certificates.
import * as z from 'zod'
import { clearance } from '../label/label.ts'
import { settingsBlock } from './settings.ts'

/** Asymmetric algorithms only: with a shared secret the site could create tokens of the provider. */
const providerAlgorithms = ['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA', 'Ed25519'] as const
export type ProviderAlgorithm = (typeof providerAlgorithms)[number]

const url = z.string().min(1).max(2_048)
const path = z.string().min(1).max(256)
const siteRole = z.string().min(1).max(64)

export const ssoSettings = settingsBlock('sso', {
  issuer: url.optional().meta({
    env: 'SSO_ISSUER',
    doc: 'With identity.provider oidc: name of the identity provider, exactly as in the iss of its tokens.',
  }),
  wellknown: url.optional().meta({
    env: 'SSO_WELLKNOWN',
    doc: 'URL of its discovery document (default: the issuer with /.well-known/openid-configuration).',
  }),
  audience: z
    .string()
    .min(1)
    .max(256)
    .default('account')
    .meta({ env: 'SSO_AUDIENCE', doc: 'Audience of tokens for this site; preferably one of its own.' }),
  ca_file: z.string().min(1).optional().meta({
    env: 'SSO_CA_FILE',
    doc: 'Authorities (PEM) for the identity provider’s TLS certificate, instead of the machine’s.',
  }),
  tls_verify: z
    .boolean()
    .default(true)
    .meta({
      env: ['SSO_TLS_VERIFY', 'SSO_VERIFY'],
      doc: 'false accepts any TLS certificate: for development only, and refused unless the identity provider is on this machine.',
    }),
  algorithms: z
    .array(z.enum(providerAlgorithms))
    .min(1)
    .default([...providerAlgorithms])
    .meta({ doc: 'Allowed signature algorithms of its tokens.' }),
  authorized_parties: z
    .array(z.string().min(1).max(256))
    .max(256)
    .default([])
    .meta({ doc: 'Clients whose tokens are accepted (azp or client_id); empty: all.' }),
  tenant_claim: path.default('tenant_id').meta({ doc: 'Claim with the tenant; dots separate nested members.' }),
  clearance_claim: path.default('clearance').meta({
    doc: 'Claim with the clearance, {level, categories, nationality} or a bare level; dots separate nested members.',
  }),
  role_claims: z
    .array(path)
    .min(1)
    .max(8)
    .default(['roles', 'realm_access.roles', 'scope'])
    .meta({ doc: 'Claims with roles: only the first that a token has is used.' }),
  role_map: z
    .record(z.string().min(1).max(256), z.array(siteRole).min(1).max(32))
    .default({})
    .meta({ doc: 'Roles of the identity provider, each with its roles of the site; other roles give no rights.' }),
  keys_refresh_s: z.int().min(10).max(86_400).default(300).meta({
    doc: 'Age of the provider’s keys at which they are fetched again.',
  }),
  keys_max_age_s: z.int().min(60).max(2_592_000).default(86_400).meta({
    doc: 'Time that its keys stay valid while it is unreachable; then its tokens get 503.',
  }),
  refetch_min_s: z.int().min(1).max(3_600).default(10).meta({
    doc: 'Minimum time between two fetches, regardless of unknown keys in tokens.',
  }),
  token_url: url.optional().meta({
    env: 'SSO_TOKEN_URL',
    doc: 'Its token endpoint (default: that of the discovery document).',
  }),
  client_id: z.string().min(1).max(256).optional().meta({
    env: 'SSO_CLIENT_ID',
    doc: 'Client of this site at the identity provider, for token exchange.',
  }),
  client_secret: z.string().min(1).max(1_024).optional().meta({
    env: 'SSO_CLIENT_SECRET',
    secret: true,
    doc: 'Its secret.',
  }),
})

const certificateHolderFields = {
  subject: z
    .string()
    .min(1)
    .max(256)
    .refine(
      (subject) => !subject.startsWith('role:'),
      'must not begin with role:, which is reserved for the site’s own services',
    ),
  tenant_id: z
    .string()
    .min(1)
    .max(128)
    .refine((tenant) => tenant !== '*', 'must not be *, which is reserved for the site’s own services'),
  roles: z.array(siteRole).max(32).default([]),
  clearance: clearance.optional(),
}

export const x509Settings = settingsBlock('x509', {
  ca_file: z.string().min(1).optional().meta({
    env: 'X509_CA_FILE',
    doc: 'Authorities (PEM, including intermediate ones) whose client certificates listeners with tls_client_auth accept.',
  }),
  crl_file: z.string().min(1).optional().meta({
    env: 'X509_CRL_FILE',
    doc: 'Revocation lists (PEM, or one in DER) of all these authorities; read again when the file changes.',
  }),
  subjects: z
    .array(
      z.union([
        z.strictObject({
          fingerprint: z.string().regex(/^[0-9a-f]{2}(:?[0-9a-f]{2}){31}$/i, 'must be SHA-256 in hexadecimal'),
          ...certificateHolderFields,
        }),
        z.strictObject({ uri: z.string().min(1).max(1_024), ...certificateHolderFields }),
        z.strictObject({ email: z.string().min(3).max(320), ...certificateHolderFields }),
        z.strictObject({ dn: z.string().min(1).max(1_024), ...certificateHolderFields }),
      ]),
    )
    .max(10_000)
    .default([])
    .meta({
      doc: 'Holders of certificates: by fingerprint (SHA-256), uri or email (alternative names), or dn (RFC 4514). Other certificates are refused.',
    }),
})
