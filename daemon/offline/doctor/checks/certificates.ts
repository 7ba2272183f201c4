// Checks that each listener's certificate can be read, matches its private key, and does not expire soon.
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type ConfiguredTls, listListeners } from '../../../kernel/role/configured-listener.ts'
import { listProfileRoles, readSiteSettings } from '../../site/site-profile.ts'
import type { DoctorContext } from '../examine-site.ts'
import { type DoctorFinding, reportExpiry, reportOk, reportProblem } from '../finding.ts'

export function checkCertificates({ folder, env, now }: DoctorContext): DoctorFinding[] {
  const { resolved } = readSiteSettings(folder, env)
  return listProfileRoles(folder, env)
    .flatMap((role) => listListeners(role, resolved))
    .flatMap(({ role, tls }) => (tls?.cert_file ? [checkCertificate(role, tls.cert_file, tls, now)] : []))
}

function checkCertificate(role: string, certFile: string, tls: ConfiguredTls, now: number): DoctorFinding {
  const { key_file: keyFile, settings } = tls
  const remedyText = `set ${settings.cert_file} and ${settings.key_file} to a matching pair (PEM)`
  if (keyFile === undefined) return reportProblem('tls', `${role} has a certificate and no private key`, remedyText)
  try {
    const certificate = new X509Certificate(readFileSync(certFile))
    if (!certificate.checkPrivateKey(createPrivateKey(readFileSync(keyFile)))) {
      return reportProblem('tls', `${keyFile} is not the private key of ${certFile}`, remedyText)
    }
    const end = Date.parse(certificate.validTo)
    const activation = role === 'proxy' ? 'platform proxy reload' : `restart ${role}`
    const remedy = `put a new certificate in ${certFile}, then ${activation}`
    return (
      reportExpiry('tls', `the certificate of ${role}`, end, now, remedy) ??
      reportOk('tls', `the certificate of ${role} lasts until ${new Date(end).toISOString().slice(0, 10)}`)
    )
  } catch {
    // The parser's message may quote the key.
    return reportProblem('tls', `the certificate or private key of ${role} cannot be read`, remedyText)
  }
}
