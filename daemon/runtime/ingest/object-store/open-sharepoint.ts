// Opens a library of SharePoint, in the name of an application that proves itself by a secret or by a certificate.
import { randomUUID, X509Certificate } from 'node:crypto'
import * as z from 'zod'
import { addressRule } from '../../../../adapters/platform/address-rule/address-rule.ts'
import type { OpenConnection } from '../../../roles/ingest/parts.ts'
import type { ObjectSource } from '../../../shared/object-source/object-source.ts'
import { RowSourceError } from '../../../shared/row-source/row-source.ts'
import type { SourceSettings } from '../thread-job.ts'
import { readSecret } from './read-secret.ts'

const sharepointConfig = z.looseObject({
  ...{ site_url: z.string(), library: z.string(), folder: z.string().optional(), ca: z.string().optional() },
  ...{ graph_url: z.string(), login_url: z.string(), directory_id: z.string(), client_id: z.string() },
})
const sharepointSecret = z.looseObject({ client_secret: z.string().optional(), certificate: z.string().optional() })

const lifetime_s = 600
const no_certificate = 'certificate is not a certificate and its private key (RSA, PKCS #8) as PEM'

export async function openSharepoint(
  { config, secret }: OpenConnection,
  settings: SourceSettings,
): Promise<ObjectSource> {
  const { folder, client_id, ...given } = sharepointConfig.parse(config)
  const { client_secret, certificate } = sharepointSecret.parse(readSecret(secret))
  if ((client_secret === undefined) === (certificate === undefined))
    throw new RowSourceError('an application proves itself by client_secret or by certificate: state one of them')
  if (![given.site_url, given.graph_url, given.login_url].every((url) => url.startsWith('https:')))
    throw new RowSourceError('secrets are sent by TLS alone: site_url, graph_url and login_url must begin with https')
  const proveByCertificate = certificate === undefined ? undefined : openCertificate(certificate, client_id)
  const prove = proveByCertificate ?? (async () => ({ client_secret: client_secret ?? '' }))
  const { sharepointSource } = await import('../../../../adapters/ingest-source/sharepoint/sharepoint-source.ts')
  const path = folder
    ?.split('/')
    .filter((name) => name !== '')
    .join('/')
  const rule = addressRule(settings.trusted_networks)
  return sharepointSource({ ...given, ...(path && { folder: path }), client_id, prove, rule })
}

/** Throws `RowSourceError`. */
function openCertificate(pem: string, client_id: string) {
  const [private_key] = /-----BEGIN PRIVATE KEY-----[^-]+-----END PRIVATE KEY-----/.exec(pem) ?? []
  const thumbprint = readThumbprint(pem)
  if (private_key === undefined || thumbprint === undefined) throw new RowSourceError(no_certificate)
  return async (aud: string) => {
    const { signAssertion } = await import('../../../../adapters/keys/jose/assertions.ts')
    const iat = Math.floor(Date.now() / 1_000)
    const claims = { iss: client_id, sub: client_id, aud, jti: randomUUID(), iat, nbf: iat, exp: iat + lifetime_s }
    const header = { alg: 'PS256', 'x5t#S256': thumbprint } as const
    const client_assertion = await signAssertion(claims, header, private_key).catch(() => {
      throw new RowSourceError(no_certificate)
    })
    return { client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer', client_assertion }
  }
}

function readThumbprint(pem: string): string | undefined {
  try {
    return Buffer.from(new X509Certificate(pem).fingerprint256.replaceAll(':', ''), 'hex').toString('base64url')
  } catch {
    return undefined
  }
}
