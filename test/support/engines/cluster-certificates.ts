// Certificates for a test cluster and its callers, by an authority that lives as long as the test.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import type { ClusterCertificates } from './opensearch.ts'

export type TestAuthority = ClusterCertificates & {
  /** A client that the authority vouches for. */
  readonly clientCert: string
  readonly clientKey: string
}

/** Throw-away keys and PEM files in the folder; needs `openssl`. */
export function clusterCertificates(folder: string): TestAuthority {
  const file = (name: string) => path.join(folder, name)
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: ['ignore', 'ignore', 'pipe'] })
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  const ca = { cert: file('ca.pem'), key: file('ca.key') }
  openssl('req', '-x509', ...key, '-days', '2', '-subj', '/O=test/CN=authority', '-keyout', ca.key, '-out', ca.cert)
  const extensions = file('extensions')
  const names = 'subjectAltName=DNS:localhost,IP:127.0.0.1'
  writeFileSync(extensions, `${names}\nextendedKeyUsage=serverAuth,clientAuth\nkeyUsage=digitalSignature\n`)
  const issue = (name: string) => {
    const [request, cert, own] = [file(`${name}.csr`), file(`${name}.pem`), file(`${name}.key`)]
    openssl('req', '-new', ...key, '-subj', `/O=test/CN=${name}`, '-keyout', own, '-out', request)
    const signed = ['-CA', ca.cert, '-CAkey', ca.key, '-CAcreateserial', '-days', '2', '-extfile', extensions]
    openssl('x509', '-req', '-in', request, ...signed, '-out', cert)
    return { cert, key: own }
  }
  const [server, admin, client] = [issue('server'), issue('admin'), issue('client')]
  return {
    ca: ca.cert,
    ...server,
    adminCert: admin.cert,
    adminKey: admin.key,
    clientCert: client.cert,
    clientKey: client.key,
  }
}
