// The contract of the source of the proxy's service token.

export interface TokenProvider {
  /** The cached token, or a promise of a new one. Undefined when no token can be obtained. */
  token(): string | undefined | Promise<string | undefined>
}
