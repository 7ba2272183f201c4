// Reads the site's certificate, key and pinned authorities from PEM files, and checks that they fit together.
import { createHash, createPrivateKey, X509Certificate } from 'node:crypto'
import * as fs from 'node:fs'
import { createSecureContext } from 'node:tls'
import { readSecretFile } from '../../platform/secret-file/read-secret-file.ts'
import { type PeerPins, readSiteName } from './pins.ts'

export type TlsFiles = {
  readonly site: string
  readonly cert_file: string
  readonly key_file: string
  /** Passphrase of the private key, where it is encrypted. */
  readonly passphrase: () => string | undefined
  readonly peers: Readonly<Record<string, PinFiles>>
}

export type PinFiles = { readonly ca_file: string; readonly keys?: readonly string[] | undefined }

export type MtlsMaterial = {
  /** Fit for `createSecureContext`. */
  readonly cert: string
  readonly key: string
  readonly passphrase?: string
  readonly own_certificate: X509Certificate
  readonly pins: PeerPins
}

const max_pem_bytes = 262_144
const certificateBlock = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g
const keyBlock = /-----BEGIN ([A-Z]+ )*PRIVATE KEY-----[\s\S]+?-----END ([A-Z]+ )*PRIVATE KEY-----/

/** Throws an Error that names the file and the remedy, and quotes nothing of it. */
export function readMaterial({ site, cert_file, key_file, passphrase, peers }: TlsFiles): MtlsMaterial {
  const certificates = readCertificates(cert_file)
  const [own] = certificates
  if (!own) throw new Error(`${cert_file} holds no certificate`)
  if (readSiteName(own) !== site) throw new Error(`the certificate in ${cert_file} does not name the site ${site}`)
  const key = readPrivateKey(key_file)
  const secret = key.includes('ENCRYPTED') ? passphrase() : undefined
  const cert = certificates.map((each) => each.toString()).join('')
  const opened = { cert, key, ...(secret === undefined ? {} : { passphrase: secret }) }
  if (!isKeyPair(own, opened))
    throw new Error(`${key_file} does not contain the private key of ${cert_file}, or not unencrypted`)
  const pins = Object.entries(peers).map(
    ([name, { ca_file, keys }]) =>
      [name, { authorities: readAuthorities(ca_file), keys: keys && new Set(keys) }] as const,
  )
  return { ...opened, own_certificate: own, pins: new Map(pins) }
}

/** Changes whenever a file or its permissions change; also for invalid files. */
export function hashFiles({ cert_file, key_file, peers }: TlsFiles): string {
  const stamp = createHash('sha256')
  for (const file of [cert_file, key_file, ...Object.values(peers).map(({ ca_file }) => ca_file)]) {
    try {
      stamp.update(readPemFile(file)).update(`\0${fs.statSync(file).mode}\0`)
    } catch (error) {
      stamp.update(`${error}\0`)
    }
  }
  return stamp.digest('hex')
}

/** False also for errors of the parser, whose text may quote the key. */
function isKeyPair(own: X509Certificate, { cert, key, passphrase }: Pick<MtlsMaterial, 'cert' | 'key' | 'passphrase'>) {
  try {
    const secret = passphrase === undefined ? {} : { passphrase }
    createSecureContext({ cert, key, ...secret })
    return own.checkPrivateKey(createPrivateKey({ key, ...secret }))
  } catch {
    return false
  }
}

function readAuthorities(file: string): X509Certificate[] {
  const found = readCertificates(file)
  if (found.length === 0) throw new Error(`${file} holds no certificate`)
  if (found.some(({ ca }) => !ca)) throw new Error(`${file} contains a certificate that is not of an authority`)
  return found
}

/** In the order in which they stand in the text (PEM). Throws for one that cannot be read. */
export function parseCertificates(text: string): X509Certificate[] {
  return (text.match(certificateBlock) ?? []).map((block) => new X509Certificate(block))
}

function readCertificates(file: string): X509Certificate[] {
  try {
    return parseCertificates(readPemFile(file))
  } catch (error) {
    // An error of reading names the file; an error of the parser does not.
    if (error instanceof Error && error.message.startsWith(file)) throw error
    throw new Error(`${file} holds a certificate that cannot be read`)
  }
}

function readPrivateKey(file: string): string {
  const [found] = keyBlock.exec(readSecretFile(file, { max_bytes: max_pem_bytes, follows_links: true })) ?? []
  if (found === undefined) throw new Error(`${file} holds no private key`)
  return found
}

function readPemFile(file: string): string {
  let opened: number
  try {
    opened = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK)
  } catch {
    throw new Error(`${file} cannot be read`)
  }
  try {
    const stat = fs.fstatSync(opened)
    if (!stat.isFile() || stat.size > max_pem_bytes) throw new Error(`${file} is not a PEM file`)
    return fs.readFileSync(opened, 'utf8')
  } finally {
    fs.closeSync(opened)
  }
}
