// Inspects the files of the networks of a site, before a start and for the doctor.
import { createPrivateKey, type X509Certificate } from 'node:crypto'
import * as fs from 'node:fs'
import { readSecretFile, type SecretFileOptions } from '../../../adapters/platform/secret-file/read-secret-file.ts'
import { parseCertificates } from '../../../adapters/transport/mtls/material.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import { amqpSettings, listNetworks } from '../../roles/site/carrier-settings.ts'
import { coalitionSettings } from '../../shared/coalition/coalition-settings.ts'

/** Expiry of a certificate, in epoch milliseconds. `description`: for people. */
export type CertificateExpiry = { readonly description: string; readonly file: string; readonly expires_at_ms: number }

export type NetworkFileReport = {
  readonly name: 'amqp' | 'coalition'
  /** Faults of the files: each names the file and the remedy, and quotes nothing of its content. */
  readonly faults: readonly string[]
  /** Certificates that were read. */
  readonly certificates: readonly CertificateExpiry[]
}

/** Reports on networks with peers. The profile itself has checked a file with the password of a broker. */
export function inspectNetworkFiles(resolved: ResolvedSettings): NetworkFileReport[] {
  const networkNames = listNetworks((section) => getSettings(resolved, section)).map(({ name }) => name)
  return [
    ...(networkNames.includes('amqp') ? [inspectAmqpFiles(resolved)] : []),
    ...(networkNames.includes('coalition') ? [inspectCoalitionFiles(resolved)] : []),
  ]
}

function inspectAmqpFiles(resolved: ResolvedSettings): NetworkFileReport {
  const { tls_ca_file, tls_cert_file, tls_key_file } = getSettings(resolved, amqpSettings)
  const inspector = new NetworkFileInspector()
  inspector.certificates(tls_ca_file, 'an authority of the broker')
  const [certificate] = inspector.certificates(tls_cert_file, 'the certificate for the broker').slice(0, 1)
  inspector.key(tls_key_file, certificate)
  return { name: 'amqp', ...inspector.report }
}

function inspectCoalitionFiles(resolved: ResolvedSettings): NetworkFileReport {
  const { ca_file, secret_file } = getSettings(resolved, coalitionSettings)
  const inspector = new NetworkFileInspector()
  inspector.certificates(ca_file, 'an authority of the hub')
  inspector.secret(secret_file)
  return { name: 'coalition', ...inspector.report }
}

/** Inspects files and collects their faults. Skips files that are not named. */
class NetworkFileInspector {
  readonly report = { faults: [] as string[], certificates: [] as CertificateExpiry[] }

  certificates(file: string | undefined, description: string): X509Certificate[] {
    const text = file === undefined ? undefined : this.#read(file)
    if (file === undefined || text === undefined) return []
    const certificates = parseCertificatesOrNone(text)
    if (certificates.length === 0) this.report.faults.push(`${file} contains no readable certificate (PEM)`)
    for (const { validToDate } of certificates)
      this.report.certificates.push({ description, file, expires_at_ms: validToDate.getTime() })
    return certificates
  }

  key(file: string | undefined, certificate: X509Certificate | undefined): void {
    // A renewal program replaces a key behind a link.
    const text = this.secret(file, { follows_links: true })
    if (text !== undefined && certificate && !isPrivateKeyOf(text, certificate)) {
      this.report.faults.push(`${file} does not contain the unencrypted private key of the certificate (PEM)`)
    }
  }

  secret(file: string | undefined, options?: SecretFileOptions): string | undefined {
    if (file === undefined) return undefined
    try {
      const text = readSecretFile(file, options)
      if (text.trim() === '') this.report.faults.push(`${file} is empty`)
      return text
    } catch (error) {
      this.report.faults.push((error as Error).message)
      return undefined
    }
  }

  #read(file: string): string | undefined {
    try {
      return fs.readFileSync(file, 'utf8')
    } catch {
      this.report.faults.push(`${file} cannot be read`)
      return undefined
    }
  }
}

/** Certificates of PEM text; none when one of them cannot be parsed. */
export function parseCertificatesOrNone(text: string): X509Certificate[] {
  try {
    return parseCertificates(text)
  } catch {
    return []
  }
}

/** Whether the text is the private key of the certificate. Hides the parser's error, which may quote the key. */
export function isPrivateKeyOf(text: string, certificate: X509Certificate): boolean {
  try {
    return certificate.checkPrivateKey(createPrivateKey(text))
  } catch {
    return false
  }
}
