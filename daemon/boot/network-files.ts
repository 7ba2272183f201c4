// What the networks of a site need to find on disk: told before a start, and to whoever examines the site.
import { createPrivateKey, type X509Certificate } from 'node:crypto'
import * as fs from 'node:fs'
import { certificatesOfText } from '../../adapters/transport/mtls/material.ts'
import { coalitionSettings } from '../kernel/coalition-settings.ts'
import type { Resolved } from '../kernel/settings.ts'
import { amqpSettings, networksOf } from '../roles/site/carrier-settings.ts'
import { isOpenToOthers } from './passphrase.ts'
import { valuesOf } from './profile.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** `what`: for people. `ends`: epoch milliseconds. */
export type Lasting = { readonly what: string; readonly file: string; readonly ends: number }

export type NetworkFiles = {
  readonly name: 'amqp' | 'coalition'
  /** Why it could not be used: each names the file and the remedy, and quotes nothing of it. */
  readonly faults: readonly string[]
  /** Certificates that were read. */
  readonly lasting: readonly Lasting[]
}

/** Of the networks that serve anybody. `env`: where a file with a password may be named. */
export function networkFiles(resolved: Resolved, env: Environment): NetworkFiles[] {
  const wanted = networksOf((section) => valuesOf(resolved, section)).map(({ name }) => name)
  return [
    ...(wanted.includes('amqp') ? [amqpFiles(resolved, env)] : []),
    ...(wanted.includes('coalition') ? [coalitionFiles(resolved)] : []),
  ]
}

function amqpFiles(resolved: Resolved, { AMQP_PASSWORD, AMQP_PASSWORD_FILE }: Environment): NetworkFiles {
  const { tls_ca_file, tls_cert_file, tls_key_file } = valuesOf(resolved, amqpSettings)
  const look = new Look()
  look.certificates(tls_ca_file, 'an authority of the broker')
  const [own] = look.certificates(tls_cert_file, 'the certificate for the broker').slice(0, 1)
  look.key(tls_key_file, own)
  if (AMQP_PASSWORD === undefined) look.secret(AMQP_PASSWORD_FILE)
  return { name: 'amqp', ...look.found }
}

function coalitionFiles(resolved: Resolved): NetworkFiles {
  const { ca_file, secret_file } = valuesOf(resolved, coalitionSettings)
  const look = new Look()
  look.certificates(ca_file, 'an authority of the hub')
  look.secret(secret_file)
  return { name: 'coalition', ...look.found }
}

/** Looks at files, and gathers what is wrong with them. A file that is not named is not looked for. */
class Look {
  readonly found = { faults: [] as string[], lasting: [] as Lasting[] }

  certificates(file: string | undefined, what: string): X509Certificate[] {
    const text = file === undefined ? undefined : this.#read(file)
    if (file === undefined || text === undefined) return []
    const certificates = certificatesIn(text)
    if (certificates.length === 0) this.found.faults.push(`${file} holds no certificate that can be read (PEM)`)
    for (const { validToDate } of certificates) this.found.lasting.push({ what, file, ends: validToDate.getTime() })
    return certificates
  }

  key(file: string | undefined, of: X509Certificate | undefined): void {
    const text = file === undefined ? undefined : this.secret(file)
    if (text !== undefined && of && !isKeyOf(text, of)) {
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

function certificatesIn(text: string): X509Certificate[] {
  try {
    return certificatesOfText(text)
  } catch {
    return []
  }
}

/** What the parser says of a key may quote it: it is not passed on. */
export function isKeyOf(text: string, certificate: X509Certificate): boolean {
  try {
    return certificate.checkPrivateKey(createPrivateKey(text))
  } catch {
    return false
  }
}
