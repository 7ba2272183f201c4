// Whether each listener's certificate can be read, is of its private key, and lasts.
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Examined } from '../examination.ts'
import { ending, type Finding, fine, problem } from '../finding.ts'
import { rolesOf, siteSettings } from '../site-profile.ts'

export function certificateFindings({ folder, env, now }: Examined): Finding[] {
  const { resolved } = siteSettings(folder, env)
  return rolesOf(folder, env).flatMap(({ name }) => {
    const { tls_cert_file, tls_key_file } = resolved.values.get(name) ?? {}
    if (typeof tls_cert_file !== 'string') return []
    return [judge(name, tls_cert_file, typeof tls_key_file === 'string' ? tls_key_file : undefined, now)]
  })
}

function judge(role: string, certFile: string, keyFile: string | undefined, now: number): Finding {
  const setting = `set ${role}.tls_cert_file and ${role}.tls_key_file to a matching pair (PEM)`
  if (keyFile === undefined) return problem('tls', `${role} has a certificate and no private key`, setting)
  try {
    const certificate = new X509Certificate(readFileSync(certFile))
    if (!certificate.checkPrivateKey(createPrivateKey(readFileSync(keyFile)))) {
      return problem('tls', `${keyFile} is not the private key of ${certFile}`, setting)
    }
    const end = Date.parse(certificate.validTo)
    const then = role === 'proxy' ? 'platform proxy reload' : `restart ${role}`
    const remedy = `put a new certificate in ${certFile}, then ${then}`
    return (
      ending('tls', `the certificate of ${role}`, end, now, remedy) ??
      fine('tls', `the certificate of ${role} lasts until ${new Date(end).toISOString().slice(0, 10)}`)
    )
  } catch {
    // What the parser says may quote the key.
    return problem('tls', `the certificate or private key of ${role} cannot be read`, setting)
  }
}
