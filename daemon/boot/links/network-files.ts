// Checks the files that the networks of a site need: before a start, and for `platform doctor`.
import { createPrivateKey, type X509Certificate } from 'node:crypto'
import * as fs from 'node:fs'
import { parseCertificates } from '../../../adapters/transport/mtls/material.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import { amqpSettings, listNetworks } from '../../roles/site/carrier-settings.ts'
import { coalitionSettings } from '../../shared/coalition/coalition-settings.ts'
import { isOpenToOthers } from '../host/passphrase.ts'

export type ProcessEnvironment = Readonly<Record<string, string | undefined>>

/** `what`: for people. `ends`: epoch milliseconds. */
export type CertificateExpiry = { readonly description: string; readonly file: string; readonly expires_at_ms: number }

export type NetworkFileReport = {
  readonly name: 'amqp' | 'coalition'
  /** Why it could not be used: each names the file and the remedy, and quotes nothing of it. */
  readonly faults: readonly string[]
  /** Certificates that were read. */
  readonly certificates: readonly CertificateExpiry[]
}

/** Of the networks that serve anybody. `env`: where a file with a password may be named. */
export function inspectNetworkFiles(resolved: ResolvedSettings, env: ProcessEnvironment): NetworkFileReport[] {
  const wanted = listNetworks((section) => getSettings(resolved, section)).map(({ name }) => name)
  return [
    ...(wanted.includes('amqp') ? [inspectAmqpFiles(resolved, env)] : []),
    ...(wanted.includes('coalition') ? [inspectCoalitionFiles(resolved)] : []),
  ]
}

function inspectAmqpFiles(
  resolved: ResolvedSettings,
  { AMQP_PASSWORD, AMQP_PASSWORD_FILE }: ProcessEnvironment,
): NetworkFileReport {
  const { tls_ca_file, tls_cert_file, tls_key_file } = getSettings(resolved, amqpSettings)
  const look = new NetworkFileInspector()
  look.certificates(tls_ca_file, 'an authority of the broker')
  const [own] = look.certificates(tls_cert_file, 'the certificate for the broker').slice(0, 1)
  look.key(tls_key_file, own)
  if (AMQP_PASSWORD === undefined) look.secret(AMQP_PASSWORD_FILE)
  return { name: 'amqp', ...look.found }
}

function inspectCoalitionFiles(resolved: ResolvedSettings): NetworkFileReport {
  const { ca_file, secret_file } = getSettings(resolved, coalitionSettings)
  const look = new NetworkFileInspector()
  look.certificates(ca_file, 'an authority of the hub')
  look.secret(secret_file)
  return { name: 'coalition', ...look.found }
}

/** Looks at files, and gathers what is wrong with them. A file that is not named is not looked for. */
class NetworkFileInspector {
  readonly found = { faults: [] as string[], certificates: [] as CertificateExpiry[] }

  certificates(file: string | undefined, what: string): X509Certificate[] {
    const text = file === undefined ? undefined : this.#read(file)
    if (file === undefined || text === undefined) return []
    const certificates = parseCertificatesOrNone(text)
    if (certificates.length === 0) this.found.faults.push(`${file} holds no certificate that can be read (PEM)`)
    for (const { validToDate } of certificates)
      this.found.certificates.push({ description: what, file, expires_at_ms: validToDate.getTime() })
    return certificates
  }

  key(file: string | undefined, of: X509Certificate | undefined): void {
    const text = file === undefined ? undefined : this.secret(file)
    if (text !== undefined && of && !isPrivateKeyOf(text, of)) {
      this.found.faults.push(`${file} does not hold the private key of the certificate, in the open (PEM)`)
    }
  }

  secret(file: string | undefined): string | undefined {
    const text = file === undefined ? undefined : this.#read(file)
    if (file === undefined || text === undefined) return undefined
    if (text.trim() === '') this.found.faults.push(`${file} is empty`)
    if (isOpenToOthers(file, fs.statSync(file).mode)) {
      this.found.faults.push(`${file} can be read by others; run: chmod 600 ${file}`)
    }
    return text
  }

  #read(file: string): string | undefined {
    try {
      return fs.readFileSync(file, 'utf8')
    } catch {
      this.found.faults.push(`${file} cannot be read`)
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

/** The message of the parser may quote the key, so it is not passed on. */
export function isPrivateKeyOf(text: string, certificate: X509Certificate): boolean {
  try {
    return certificate.checkPrivateKey(createPrivateKey(text))
  } catch {
    return false
  }
}
