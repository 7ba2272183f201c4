// Where the rights of a verified token came from: what it says itself, or else what its client is.
import { issuedClaims } from '../../../adapters/identity/offline/issued-token.ts'
import type { CredentialOrigin } from '../../kernel/identity/delegation.ts'
import type { CredentialClaims } from '../../kernel/identity/identity.ts'
import type { PrincipalRegister } from '../../roles/site/delegation/model.ts'

export type OriginRegister = {
  readonly register: Pick<PrincipalRegister, 'clients' | 'provider'>
  /** Whether the identity provider of the profile issued the token. */
  readonly isOfProvider: (token: string) => boolean
}

const claimedOrigin = issuedClaims.pick({ origin: true, client_id: true, derived_from: true }).partial()

/**
 * Tokens of the token endpoint name their origin. Those of an earlier release do not: a command names the subject as the
 * client, so that another name is that of a client, also of one that the profile does not list any more.
 */
export function findOrigin(
  { register: { clients, provider }, isOfProvider }: OriginRegister,
  verified: CredentialClaims,
  token: string,
): CredentialOrigin {
  if (provider && isOfProvider(token)) return { source: 'provider', issuer: provider.issuer }
  const { origin, client_id, derived_from } = claimedOrigin.parse(verified)
  if (origin) return origin
  const isListed = clients.some((client) => client.client_id === client_id)
  if (client_id === undefined || (client_id === verified.sub && !isListed)) return { source: 'token' }
  return derived_from ? { source: 'token', exchanged_by: [client_id] } : { source: 'client', client_id }
}
