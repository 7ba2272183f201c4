// Certificates for a real server of a test and for its clients, signed by an authority of the test's own.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { createEngineFolder } from './server-process.ts'

/** PEM files of the holder and of the authority that signed it. */
export type ServerCertificateFiles = { readonly ca: string; readonly cert: string; readonly key: string }

export type ServerCertificateSet = {
  /** Of one of the names; each is good for localhost and 127.0.0.1, for servers and clients. */
  of(name: string): ServerCertificateFiles
  dispose(): void
}

/** One for each common name. Needs openssl. */
export function issueServerCertificates(...names: readonly string[]): ServerCertificateSet {
  const { folder, dispose } = createEngineFolder('certificates')
  const file = (name: string) => path.join(folder, name)
  const openssl = (...words: readonly string[]) => execFileSync('openssl', words, { cwd: folder, stdio: 'pipe' })
  const fresh = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  const authority = ['-subj', '/CN=authority of a test', '-keyout', 'ca.key', '-out', 'ca.pem']
  openssl('req', '-x509', ...fresh, '-days', '2', ...authority)
  writeFileSync(
    file('extensions'),
    'subjectAltName=DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth\nkeyUsage=digitalSignature\n',
  )
  for (const name of names) {
    openssl('req', '-new', ...fresh, '-subj', `/CN=${name}`, '-keyout', `${name}.key`, '-out', `${name}.csr`)
    const signed = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2', '-extfile', 'extensions']
    openssl('x509', '-req', '-in', `${name}.csr`, ...signed, '-out', `${name}.pem`)
  }
  return {
    of: (name) => ({ ca: file('ca.pem'), cert: file(`${name}.pem`), key: file(`${name}.key`) }),
    dispose,
  }
}
