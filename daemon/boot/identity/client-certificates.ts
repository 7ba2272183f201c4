// Connects authentication by client certificates: paths and revocation lists from the key adapter, holders from identity.
import { readFileSync } from 'node:fs'
import type { Revocations } from '../../../adapters/identity/offline/revocations.ts'
import { certificateHolders } from '../../../adapters/identity/x509/certificate-holders.ts'
import { x509Provider } from '../../../adapters/identity/x509/provider.ts'
import { type ListFileCheckInterval, revocationListFile } from '../../../adapters/identity/x509/revocation-list-file.ts'
import { buildCertificatePath, parseAuthorities } from '../../../adapters/keys/x509/certificate-path.ts'
import { parseRevocationLists } from '../../../adapters/keys/x509/revocation-list.ts'
import type { IdentityProvider } from '../../kernel/identity/identity.ts'
import type { SettingValues } from '../../kernel/settings/settings.ts'
import type { x509Settings } from '../../kernel/settings/sso-settings.ts'
import type { Log } from '../../kernel/telemetry/log.ts'

export type ClientCertificateOptions = {
  readonly ca_file: string
  readonly x509: SettingValues<typeof x509Settings>
  readonly log: Log
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly recheck: ListFileCheckInterval
}

/** Throws if `x509.ca_file` cannot be used. */
export function clientCertificateProvider({ ca_file, x509, log, now, recheck }: ClientCertificateOptions) {
  const authorities = parseAuthorities(readFileSync(ca_file, 'utf8'))
  const { crl_file, subjects: rows } = x509
  const reportListFault = (reason: string) => log.error('identity.crl.failed', { reason })
  const lists =
    crl_file === undefined ? undefined : revocationListFile(crl_file, parseRevocationLists, recheck, reportListFault)
  return (tokens: IdentityProvider, revocations: Revocations): IdentityProvider =>
    x509Provider({
      tokens,
      onRefused: (reason) => log.info('identity.token.refused', { reason }),
      findHolder: certificateHolders({
        buildChain: (der, at_ms) => buildCertificatePath(der, authorities, at_ms),
        lists,
        rows,
        now,
        isRevoked: revocations.isRevoked,
        refused: (reason, { fingerprint, dn } = { fingerprint: '', dn: '' }) =>
          log.info('identity.certificate.refused', { reason, fingerprint, dn }),
      }),
    })
}
