// A certificate authority of the openssl program, which knows nothing of how this project reads what it makes.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'

export type IssuedCertificate = { readonly cert: string; readonly key: string; readonly der: Buffer }

export type CertificateRequest = {
  /** As openssl takes it: /CN=ada/O=alpha. */
  readonly subject: string
  /** Lines of an extension section, further sections behind them; a client's usages by default. */
  readonly extensions?: readonly string[]
  /** Epoch milliseconds; from an hour ago for a month by default. */
  readonly from?: number
  readonly to?: number
}

export type RevocationListOptions = {
  readonly from?: number
  readonly to?: number
  readonly extensions?: readonly string[]
}

export type OpensslAuthority = {
  /** PEM. */
  readonly cert: string
  readonly key: string
  issue(request: CertificateRequest): IssuedCertificate
  /** An authority under this one. */
  createSubordinate(name: string): OpensslAuthority
  /** From the next list on. */
  revoke(issued: Pick<IssuedCertificate, 'cert'>): void
  /** PEM; for a week from an hour ago by default. */
  issueRevocationList(request?: RevocationListOptions): string
}

export const clientExtensions = [
  'basicConstraints=critical,CA:FALSE',
  'keyUsage=critical,digitalSignature',
  'extendedKeyUsage=clientAuth',
]
const authorityExtensions = ['basicConstraints=critical,CA:TRUE', 'keyUsage=critical,keyCertSign,cRLSign']

const hour_ms = 3_600_000
const day_ms = 24 * hour_ms

/** Files in `dir`/`name`, which is made. `now` in epoch milliseconds: what certificates and lists are dated by. */
export function opensslAuthority(
  dir: string,
  name: string,
  now: number,
  subject = `/O=Example/CN=${name}`,
): OpensslAuthority {
  const at = buildFolderPath(dir, name)
  createSigningRequest(at, subject)
  runOpensslCa(
    at,
    '-selfsign',
    '-in',
    'csr.pem',
    '-keyfile',
    'key.pem',
    ...buildSigningArguments(at, 'cert.pem', authorityExtensions, now - hour_ms, now + 365 * day_ms),
  )
  return openAuthority(dir, name, now)
}

function openAuthority(dir: string, name: string, now: number): OpensslAuthority {
  const at = path.join(dir, name)
  const text = (file: string) => readFileSync(path.join(at, file), 'utf8')
  let count = 0
  const sign = (
    to: string,
    { subject, extensions = clientExtensions, from = now - hour_ms, to: until = now + 30 * day_ms }: CertificateRequest,
  ) => {
    createSigningRequest(path.join(at, to), subject)
    runOpensslCa(
      at,
      '-in',
      `${to}/csr.pem`,
      '-keyfile',
      'key.pem',
      '-cert',
      'cert.pem',
      ...buildSigningArguments(at, `${to}/cert.pem`, extensions, from, until),
    )
  }
  return {
    cert: text('cert.pem'),
    key: text('key.pem'),
    issue(request) {
      count += 1
      const to = `issued-${count}`
      mkdirSync(path.join(at, to))
      sign(to, request)
      const cert = text(`${to}/cert.pem`)
      return { cert, key: text(`${to}/key.pem`), der: decodePem(cert) }
    },
    createSubordinate(lower) {
      const folder = buildFolderPath(at, lower)
      sign(path.relative(at, folder), { subject: `/O=Example/CN=${lower}`, extensions: authorityExtensions })
      return openAuthority(at, lower, now)
    },
    revoke({ cert }) {
      writeFileSync(path.join(at, 'revoked.pem'), cert)
      runOpensslCa(at, '-keyfile', 'key.pem', '-cert', 'cert.pem', '-revoke', 'revoked.pem')
    },
    issueRevocationList({
      from = now - hour_ms,
      to = now + 7 * day_ms,
      extensions = ['authorityKeyIdentifier=keyid:always'],
    } = {}) {
      writeFileSync(path.join(at, 'list.cnf'), `${text('ca.cnf')}[lists]\n${extensions.join('\n')}\n`)
      const dated = ['-crl_lastupdate', formatGeneralizedTime(from), '-crl_nextupdate', formatGeneralizedTime(to)]
      const signer = ['-keyfile', 'key.pem', '-cert', 'cert.pem']
      runOpensslCa(at, '-config', 'list.cnf', '-gencrl', ...signer, ...dated, '-crlexts', 'lists', '-out', 'list.pem')
      return text('list.pem')
    },
  }
}

/** The bytes inside the first block of a PEM text. */
export function decodePem(pem: string): Buffer {
  return Buffer.from((/-----BEGIN [^-]+-----([^-]+)-----END/.exec(pem)?.[1] ?? '').replaceAll(/\s/g, ''), 'base64')
}

function buildFolderPath(dir: string, name: string): string {
  const at = path.join(dir, name)
  mkdirSync(at, { recursive: true })
  writeFileSync(path.join(at, 'index.txt'), '')
  writeFileSync(path.join(at, 'serial'), `${Buffer.from(name).toString('hex').slice(0, 16).padEnd(16, '0')}\n`)
  writeFileSync(path.join(at, 'crlnumber'), '01\n')
  const ca = ['database=index.txt', 'serial=serial', 'crlnumber=crlnumber', 'new_certs_dir=.', 'default_md=sha256']
  const lines = ['[ca]', 'default_ca=here', '[here]', ...ca, 'policy=any', 'unique_subject=no', 'string_mask=utf8only']
  const policy = ['C', 'O', 'OU', 'CN', 'emailAddress', 'UID'].map((name) => `${name}=optional`)
  writeFileSync(
    path.join(at, 'ca.cnf'),
    [...lines, '[any]', ...policy, '[req]', 'distinguished_name=dn', '[dn]', ''].join('\n'),
  )
  return at
}

function createSigningRequest(at: string, subject: string): void {
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  const config = path.join(at, 'request.cnf')
  writeFileSync(config, '[req]\ndistinguished_name=dn\n[dn]\n')
  const args = ['-new', ...curve, '-utf8', '-subj', subject, '-keyout', 'key.pem', '-out', 'csr.pem', '-config', config]
  execFileSync('openssl', ['req', ...args], { cwd: at, stdio: 'pipe' })
}

function buildSigningArguments(
  at: string,
  out: string,
  extensions: readonly string[],
  from: number,
  to: number,
): string[] {
  const file = path.join(at, 'extensions.cnf')
  writeFileSync(file, `[wanted]\n${extensions.join('\n')}\n`)
  const dated = ['-startdate', formatGeneralizedTime(from), '-enddate', formatGeneralizedTime(to)]
  return ['-batch', '-notext', '-preserveDN', '-extfile', file, '-extensions', 'wanted', ...dated, '-out', out]
}

/** The last `-config` counts. */
function runOpensslCa(at: string, ...args: readonly string[]): void {
  execFileSync('openssl', ['ca', '-config', 'ca.cnf', ...args], { cwd: at, stdio: 'pipe' })
}

/** As openssl takes times: GeneralizedTime. */
function formatGeneralizedTime(time: number): string {
  return `${new Date(time).toISOString().slice(0, 19).replaceAll(/[-:T]/g, '')}Z`
}
