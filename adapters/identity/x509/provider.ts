// The x509 provider: certificates beside tokens. Where both are shown they must be of one and the same.
import type { IdentityProvider, ShownCertificate } from '../../../daemon/kernel/identity/identity.ts'
import { belongsTo } from './holder-rules.ts'
import type { Held } from './holders.ts'

export type X509Options = {
  /** Judges tokens. */
  readonly tokens: IdentityProvider
  readonly holderOf: (certificate: ShownCertificate) => Held | undefined
  readonly refused: (reason: string) => void
}

/** With a certificate that is nobody's no token counts either: who shows one must be known by it. */
export function x509Provider({ tokens, holderOf, refused }: X509Options): IdentityProvider {
  return {
    name: 'x509',
    async verify(bearer, certificate) {
      if (!certificate) return tokens.verify(bearer)
      const held = holderOf(certificate)
      if (!held || bearer === undefined) return held?.claims
      const claims = await tokens.verify(bearer)
      if (claims === undefined || belongsTo(held.holder, claims)) return claims
      refused('another_holder')
      return undefined
    },
  }
}
