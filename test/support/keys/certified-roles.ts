// Certificates of roles in the folder of a site that does not run, and the two ends of the connections that they allow.
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { ListenerTls } from '../../../adapters/platform/http-server/listener-tls.ts'
import { RemoteRoles } from '../../../daemon/boot/host/remote-roles.ts'
import { roleCertificates } from '../../../daemon/boot/identity/role-certificates.ts'
import { roleAuthoritiesFile, roleCertificateFile, type SiteFolder } from '../../../daemon/boot/storage/site-folder.ts'
import type { Log } from '../../../daemon/kernel/telemetry/log.ts'
import { createAuthority, issueCertificate, type SiteAuthority } from './site-certificates.ts'

const monotonic = () => performance.now()

export type CertifiedRoles = {
  readonly authority: SiteAuthority
  /** Replaces that of the role, with its key. Returns it in PEM. */
  issue(role: string): Promise<string>
  /** Of a server that is this role; it requests the certificate of a client. */
  serverTls(role: string): ListenerTls
  readonly findRole: ReturnType<typeof roleCertificates>
  connect(options?: { readonly ca_file?: string; readonly log?: Log }): RemoteRoles
}

const silent: Log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }

/** Of the site alpha. */
export async function certifyRoles(dir: string, folder: SiteFolder, names: readonly string[]): Promise<CertifiedRoles> {
  const authority = await createAuthority(dir, 'alpha')
  mkdirSync(folder.identity, { recursive: true })
  copyFileSync(authority.file, roleAuthoritiesFile(folder))
  const issue = async (role: string) => {
    const { file, pem } = await issueCertificate(dir, authority, `role-${role}`, { site: 'alpha', role })
    mkdirSync(path.dirname(roleCertificateFile(folder, role)), { recursive: true })
    copyFileSync(file, roleCertificateFile(folder, role))
    return pem
  }
  for (const role of names) await issue(role)
  const recheck = { every_ms: 0, monotonic }
  const findRole = roleCertificates({ folder, site: 'alpha', log: silent, now: Date.now, recheck })
  return {
    authority,
    issue,
    serverTls(role) {
      const pem = readFileSync(roleCertificateFile(folder, role), 'utf8')
      return { cert: pem, key: pem, ca: authority.certificate, isCertificateOptional: true, minVersion: 'TLSv1.3' }
    },
    findRole,
    connect: ({ ca_file, log = silent } = {}) =>
      new RemoteRoles({ folder, site: 'alpha', ca_file, log, now: Date.now, monotonic }),
  }
}
