// Certificates with which roles reach each other from machine to machine: issued by the site's authority, each with a new key.
import { X509Certificate } from 'node:crypto'
import * as fs from 'node:fs'
import * as z from 'zod'
import { writePrivateText } from '../../../adapters/keys/jose/key-files.ts'
import { copyGroupAccess } from '../../../adapters/keys/jose/token-keys.ts'
import { generateCertificateKeys } from '../../../adapters/keys/x509/certificate-issuance.ts'
import { writeDurably } from '../../../adapters/platform/durable-file/write-durably.ts'
import { readSecretFile } from '../../../adapters/platform/secret-file/read-secret-file.ts'
import { keyFingerprint } from '../../../adapters/transport/mtls/pins.ts'
import {
  certificatesFolder,
  roleAuthoritiesFile,
  roleCertificateFile,
  roleKeysFolder,
  type SiteFolder,
} from '../../boot/storage/site-folder.ts'
import { readRoleName } from '../../kernel/identity/role-certificate.ts'
import { recordOperatorAction } from '../audit/operator-action.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { roleTask } from '../role-task/role-task.ts'
import { type EnvironmentVariables, readSiteSettings } from '../site/site-profile.ts'
import { runAsRoleOwner } from './role-keys.ts'
import { listPinnableAuthorities, readSiteAuthority } from './site-authority.ts'
import {
  type CertificateIssueOptions,
  exportKeyPem,
  listHosts,
  parseCertificateChain,
  signSiteCertificate,
  toSiteNames,
} from './site-certificate.ts'

export type RoleCertificateSummary = {
  readonly role: string
  readonly names: string
  readonly issuer: string
  readonly not_before: string
  readonly not_after: string
  /** SHA-256 of the public key. */
  readonly key: string
}

/**
 * Issues a certificate with a new key into the folder of the role, and lists the authorities of the site for all roles. Throws
 * `OfflineCommandError` without an authority, or where the folder of the role belongs to another user, and `KeyLockedError`.
 */
export async function issueRoleCertificate(
  folder: SiteFolder,
  env: EnvironmentVariables,
  request: { readonly role: string; readonly hosts: readonly string[] },
  terms: CertificateIssueOptions,
): Promise<RoleCertificateSummary> {
  const { role, hosts } = request
  const authority = readSiteAuthority(folder)
  const pair = await generateCertificateKeys()
  const names = { ...toSiteNames(readSiteSettings(folder, env).platform.name, hosts), role }
  const certificate = await signSiteCertificate(authority, { names, publicKey: pair.publicKey }, terms)
  await runAsRoleOwner(installOwnCertificate, folder, role, { pem: `${certificate}${exportKeyPem(pair, undefined)}` })
  writeRoleAuthorities(folder, terms.now)
  const leaf = new X509Certificate(certificate)
  const summary = summarizeCertificate(leaf)
  const { not_after, key } = summary
  const detail = { serial: leaf.serialNumber, not_after, key }
  await recordOperatorAction(folder, env, { action: 'site.role_certificate.issue', target: role, detail })
  return summary
}

/** Issues a certificate for the hosts of the current one. */
export async function renewRoleCertificate(
  folder: SiteFolder,
  env: EnvironmentVariables,
  role: string,
  terms: CertificateIssueOptions,
): Promise<RoleCertificateSummary> {
  return await issueRoleCertificate(folder, env, { role, hosts: listHosts(readRoleCertificate(folder, role)) }, terms)
}

/** Throws `OfflineCommandError` (1) if the role has no certificate. */
export function showRoleCertificate(folder: SiteFolder, role: string): RoleCertificateSummary {
  return summarizeCertificate(readRoleCertificate(folder, role))
}

/** Replaced authorities stay in the list until they end, since certificates that they signed are still in use. */
function writeRoleAuthorities(folder: SiteFolder, now: number): void {
  const pem = listPinnableAuthorities(folder, now).map(String).join('')
  writeDurably(roleAuthoritiesFile(folder), (opened) => {
    fs.writeFileSync(opened, pem)
    copyGroupAccess(opened, fs.statSync(folder.identity))
  })
}

export const installOwnCertificate = roleTask({
  name: 'install-role-certificate',
  event: z.never(),
  locateFolder: roleKeysFolder,
  input: z.strictObject({ pem: z.string().max(65_536) }),
  output: z.strictObject({}),
  async run({ folder, role }, { pem }) {
    writePrivateText(certificatesFolder({ keys: roleKeysFolder(folder, role.name) }), 'role.pem', pem)
    return {}
  },
})

function readRoleCertificate(folder: SiteFolder, role: string): X509Certificate {
  const file = roleCertificateFile(folder, role)
  const [certificate] = fs.existsSync(file) ? parseCertificateChain(readSecretFile(file)) : []
  if (certificate) return certificate
  const remedy = `\`platform keys cert issue --role ${role}\` makes one`
  throw new OfflineCommandError(1, `the role ${role} has no certificate here`, remedy)
}

function summarizeCertificate(leaf: X509Certificate): RoleCertificateSummary {
  return {
    role: readRoleName(leaf)?.role ?? '',
    names: leaf.subjectAltName ?? '',
    issuer: leaf.issuer,
    not_before: leaf.validFromDate.toISOString(),
    not_after: leaf.validToDate.toISOString(),
    key: keyFingerprint(leaf.publicKey),
  }
}
