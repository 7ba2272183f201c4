// The x509 provider: authenticates by certificate, token, or both, which must then have one holder.
import type { IdentityProvider, PresentedCertificate } from '../../../daemon/kernel/identity/identity.ts'
import type { HolderClaims } from './certificate-holders.ts'
import { belongsTo } from './holder-rules.ts'

export type X509ProviderOptions = {
  /** Verifies tokens. */
  readonly tokens: IdentityProvider
  readonly findHolder: (certificate: PresentedCertificate) => HolderClaims | undefined
  readonly onRefused: (reason: string) => void
}

/** A certificate without a holder refuses the request, even with a valid token. */
export function x509Provider({ tokens, findHolder, onRefused }: X509ProviderOptions): IdentityProvider {
  return {
    name: 'x509',
    async verify(bearer, certificate) {
      if (!certificate) return tokens.verify(bearer)
      const held = findHolder(certificate)
      if (!held || bearer === undefined) return held?.claims
      const claims = await tokens.verify(bearer)
      if (claims === undefined || belongsTo(held.holder, claims)) return claims
      onRefused('another_holder')
      return undefined
    },
  }
}
