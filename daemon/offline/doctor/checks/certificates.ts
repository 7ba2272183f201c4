// Checks that the certificates of listeners can be read and match their private keys, and that these and those of roles do not expire soon.
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { roleCertificateFile, type SiteFolder } from '../../../boot/storage/site-folder.ts'
import { type ConfiguredTls, listListeners } from '../../../kernel/role/configured-listener.ts'
import { listProfileRoles, readSiteSettings } from '../../site/site-profile.ts'
import type { DoctorContext } from '../examine-site.ts'
import { type DoctorFinding, reportExpiry, reportOk, reportProblem } from '../finding.ts'

export function checkCertificates({ folder, env, now }: DoctorContext): DoctorFinding[] {
  const { resolved } = readSiteSettings(folder, env)
  const profileRoles = listProfileRoles(folder, env)
  const ofListeners = profileRoles
    .flatMap((role) => listListeners(role, resolved))
    .flatMap(({ role, tls }) => (tls?.cert_file ? [checkCertificate(role, tls.cert_file, tls, now)] : []))
  return [...ofListeners, ...profileRoles.flatMap(({ name }) => checkRoleCertificate(folder, name, now))]
}

/** The certificate with which the role reaches other machines; none where it has none. */
function checkRoleCertificate(folder: SiteFolder, role: string, now: number): DoctorFinding[] {
  const file = roleCertificateFile(folder, role)
  if (!existsSync(file)) return []
  const remedy = `issue another: platform keys cert renew --role ${role}`
  const description = `the certificate by which ${role} reaches other machines`
  try {
    const end = Date.parse(new X509Certificate(readFileSync(file)).validTo)
    const lasting = reportOk('tls', `${description} lasts until ${new Date(end).toISOString().slice(0, 10)}`)
    return [reportExpiry('tls.authority_expiring', description, end, now, remedy) ?? lasting]
  } catch {
    return [reportProblem('tls.authority_unreadable', `${description} cannot be read`, remedy)]
  }
}

function checkCertificate(role: string, certFile: string, tls: ConfiguredTls, now: number): DoctorFinding {
  const { key_file: keyFile, settings } = tls
  const remedyText = `set ${settings.cert_file} and ${settings.key_file} to a matching pair (PEM)`
  if (keyFile === undefined)
    return reportProblem('tls.key_missing', `${role} has a certificate and no private key`, remedyText)
  try {
    const certificate = new X509Certificate(readFileSync(certFile))
    if (!certificate.checkPrivateKey(createPrivateKey(readFileSync(keyFile)))) {
      return reportProblem('tls.key_mismatch', `${keyFile} is not the private key of ${certFile}`, remedyText)
    }
    const end = Date.parse(certificate.validTo)
    const remedy = `put a new certificate in ${certFile}${role === 'proxy' ? ', then platform proxy reload' : ''}`
    return (
      reportExpiry('tls.certificate_expiring', `the certificate of ${role}`, end, now, remedy) ??
      reportOk('tls', `the certificate of ${role} lasts until ${new Date(end).toISOString().slice(0, 10)}`)
    )
  } catch {
    // The parser's message may quote the key.
    return reportProblem('tls.unreadable', `the certificate or private key of ${role} cannot be read`, remedyText)
  }
}
