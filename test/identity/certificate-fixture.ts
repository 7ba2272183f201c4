// Certificates of real authorities before a site's table, in time that the test moves.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileRevocations, prepareRevocations } from '../../adapters/identity/offline/revocations.ts'
import { clientCertificateProvider } from '../../daemon/boot/identity/client-certificates.ts'
import { isRefusal } from '../../daemon/kernel/error/errors.ts'
import type { IdentityProvider } from '../../daemon/kernel/identity/identity.ts'
import type { SettingValues } from '../../daemon/kernel/settings/settings.ts'
import { x509Settings } from '../../daemon/kernel/settings/sso-settings.ts'
import { createFolder, noon } from './identity-fixture.ts'

/** Tokens are "subject@tenant", or "subject@tenant<actor"; any test can write one. */
const tokens: IdentityProvider = {
  name: 'offline',
  async verify(bearer = '') {
    const [, sub, tenant_id, actor] = /^(\w+)@(\w+)(?:<(\w+))?$/.exec(bearer) ?? []
    if (!sub || !tenant_id) return undefined
    return { sub, tenant_id, roles: ['analyst'], jti: 'j', exp: 0, ...(actor ? { act: { sub: actor } } : {}) }
  },
}

export type CertificateRow = Record<string, unknown>

/** `ca`: PEM of the authorities that the site trusts. Without `lists` no file of revocation lists exists. */
export function createCertificateFixture(ca: string, rows: readonly CertificateRow[], lists?: string | Buffer) {
  const dir = createFolder()
  const [ca_file, crl_file] = [join(dir, 'ca.pem'), join(dir, 'lists.pem')]
  writeFileSync(ca_file, ca)
  if (lists !== undefined) writeFileSync(crl_file, lists)
  const clock = { now: noon, mono: 0 }
  const logged: string[] = []
  const log = (event: string, fields: unknown) => logged.push(`${event} ${JSON.stringify(fields)}`)
  const settings = { ca_file, subjects: rows, ...(lists === undefined ? {} : { crl_file }) }
  const beside = clientCertificateProvider({
    ca_file,
    x509: x509Settings.schema.parse(settings) as SettingValues<typeof x509Settings>,
    log: { debug: log, info: log, warn: log, error: log },
    now: () => clock.now,
    recheck: { every_ms: 0, monotonic: () => clock.mono },
  })
  const revocations = fileRevocations(prepareRevocations(dir))
  const provider = beside(tokens, revocations)
  return {
    clock,
    logged,
    revocations,
    crl_file,
    /** The subject of this certificate, or undefined, or "unavailable". */
    async who(der: Buffer, bearer?: string, fault?: string) {
      try {
        return (await provider.verify(bearer, { der, fault }))?.sub
      } catch (error) {
        if (!isRefusal(error)) throw error
        return error.code
      }
    },
    claims: (der: Buffer) => provider.verify(undefined, { der }),
    provider,
  }
}
