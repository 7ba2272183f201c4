// How a client reaches a server of another party, whatever that server speaks.
import type { AddressRule } from './address-rule.ts'

export type ServerAccess = {
  readonly host: string
  readonly port: number
  readonly username?: string | undefined
  readonly password?: string | undefined
  readonly tls: 'verify' | 'off'
  /** Authorities in PEM instead of the known ones. */
  readonly ca?: string | undefined
  readonly rule: AddressRule
}
