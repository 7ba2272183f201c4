// Delegation in the site role: verified credentials, the register of rights, and what the runtime supplies.

import type { Refusal } from '../../../kernel/error/errors.ts'
import type {
  CredentialOrigin,
  DelegatedToken,
  DelegationAudience,
  Principal,
} from '../../../kernel/identity/delegation.ts'
import type { Actor } from '../../../kernel/identity/identity.ts'
import type { OAuthClient } from '../token/model.ts'

/** A credential that is valid now, as the requesting role would judge it, or a grant of that role. */
export type VerifiedCredential = Principal & {
  readonly jti: string
  /** Seconds since 1970. */
  readonly exp: number
  readonly act?: Actor | undefined
  readonly derived_from?: readonly string[] | undefined
  readonly origin: CredentialOrigin
}

/** What the site lists about principals now. */
export type PrincipalRegister = {
  readonly clients: readonly OAuthClient[]
  readonly certificate_holders: readonly Principal[]
  /** Roles that the identity provider can still give; absent: the site trusts none. */
  readonly provider?: { readonly issuer: string; readonly roles: readonly string[] } | undefined
  /** Roles of users that exist. */
  readonly role_names: readonly string[]
}

/** For whom each role of the site may request tokens. */
export type DelegationTargets = {
  /** Roles whose operations it requests. */
  readonly roles: ReadonlySet<string>
  /** Services outside the site. */
  readonly services: ReadonlySet<string>
}

/** Exactly one is given. */
export type PresentedPrincipal = {
  readonly subject_token?: string | undefined
  readonly certificate?: string | undefined
  readonly grant?: string | undefined
}

export type DelegatedClaims = Principal & {
  readonly act?: Actor | undefined
  readonly derived_from: readonly string[]
  readonly origin: CredentialOrigin
}

/** Supplied by the runtime. */
export type Delegations = {
  readonly register: PrincipalRegister
  /** Life of a grant in seconds. */
  readonly grant_life_s: number
  targetsOf(role: string): DelegationTargets
  /** Refuses a credential that is not valid, with the reason. Throws `Refusal('unavailable')`. */
  verify(role: string, presented: PresentedPrincipal): Promise<VerifiedCredential | Refusal>
  /** A grant for the role; `exp` in seconds since 1970. */
  seal(role: string, claims: DelegatedClaims, exp: number): Promise<string>
  mint(role: string, claims: DelegatedClaims, audience: DelegationAudience, exp: number): Promise<DelegatedToken>
  /** Whether the identity provider that issued this token exchanges it. */
  isExchangedAbroad(presented: PresentedPrincipal): boolean
  /** Returns `forbidden` with the provider's error code; throws `Refusal('unavailable')`. */
  exchangeAbroad(subject_token: string, service: string): Promise<DelegatedToken | Refusal>
  /** Returns the stored token, or stores the new one, while it is valid for at least half of its life. */
  reuse(key: string, create: () => Promise<DelegatedToken | Refusal>): Promise<DelegatedToken | Refusal>
}
